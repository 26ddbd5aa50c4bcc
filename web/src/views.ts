// The charts that files describe: each asks its table and draws the answer.

import type { Page } from "./page";
import type { View } from "./model";
import type { Chart } from "./figure";
import { type Answer, type Row, answer, gathered } from "./query";
import { bars } from "./bars";
import { boxes, points } from "./spread";
import { Table } from "./table";
import { facts } from "./facts";
import { h, renew } from "./element";
import { bytes, count, percent, seconds } from "./format";

const UNITS = { count: (value: number) => Number.isInteger(value) ? count(value) : value.toFixed(2), seconds, bytes, share: percent };
/** More points than this are not shapes any more. */
const POINTS = 2000;

export class Views {
  readonly node = h("section", { class: "charts", "aria-label": "Charts" });
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
    page.store.listen(() => this.update());
    page.onFeed(() => this.update());
    this.update();
  }

  update(): void { renew(this.node, ...this.#page.report.views.flatMap((view) => draw(this.#page, view))); }
}

/** A view as its charts; none where its table has no rows for it. A view that fails says so and
 *  leaves the others alone. */
export function draw(page: Page, view: View, atLeast = 0): HTMLElement[] {
  try {
    const table = facts(page, view.from), answers = answer(view, table).filter((one) => one.rows.some((row) => row.values.some((value) => value > 0)));
    return answers.map((one) => chart(page, view, one, [view.note, table.note ?? ""], atLeast));
  } catch (error) {
    return [h("p", { class: "broken" }, `The view ${view.slug} cannot be shown: ${error instanceof Error ? error.message : String(error)}.`)];
  }
}

/** The largest value of a view, for charts that are to have equal axes. */
export function highest(page: Page, view: View): number {
  let most = 0;
  for (const { rows } of answer(view, facts(page, view.from))) for (const row of rows) for (const value of row.values) most = Math.max(most, value);
  return most;
}

function chart(page: Page, view: View, { name, rows }: Answer, notes: string[], atLeast: number): HTMLElement {
  const { kind, unit, scale, axis, most, median } = view.chart, text = UNITS[unit];
  const title = name === null ? view.title : `${view.title}, ${name}`, id = page.id(name === null ? view.slug : `${view.slug}-${name.toLowerCase()}`);
  if (kind === "table") return listed(view, id, title, rows, text);
  const fits = kind === "points" ? POINTS : most, { rows: shown, per } = gathered(rows, fits);
  if (per > 1) notes.push(`the largest of every ${count(per)}`);
  const all = view.series.map((one, of) => ({ name: one.name, class: one.colour === "metadata" ? "meta" : one.colour, values: shown.map((row) => row.values[of]!) }));
  // What is nothing everywhere takes no room; the five of a box belong together.
  const series = kind === "boxes" ? all : all.filter((one) => one.values.some((value) => value !== 0));
  const drawn: Chart = {
    id, title, note: notes.filter(Boolean).join("; "), labels: shown.map((row) => typeof row.x === "number" && kind !== "points" ? count(row.x) : String(row.x)), series, text, logarithmic: scale === "log", atLeast,
    ...(axis ? { axis } : {}), ...(shown.some((row) => row.lit) ? { lit: (at: number) => shown[at]!.lit } : {}),
    ...(median && rows.length > 2 ? { level: level(rows, text) } : {}),
  };
  return kind === "boxes" ? boxes(drawn) : kind === "points" ? points(drawn, (value) => count(value)) : bars(drawn);
}

function level(rows: Row[], text: (value: number) => string): { value: number; text: string } {
  const values = rows.map((row) => row.values[0]!).sort((a, b) => a - b), value = values[Math.floor(values.length / 2)] ?? 0;
  return { value, text: `median ${text(value)}` };
}

function listed(view: View, id: string, title: string, rows: Row[], text: (value: number) => string): HTMLElement {
  const table = new Table<Row>({
    id, caption: title, rows, sort: -1,
    columns: [{ name: view.chart.axis || "name", value: (row) => row.x }, ...view.series.map((series, of) => ({ name: series.name, value: (row: Row) => row.values[of]!, text: (row: Row) => text(row.values[of]!) }))],
  });
  return h("figure", { class: "chart" }, h("figcaption", {}, h("h3", {}, title), h("span", { class: "note" }, view.note)), table.node);
}

// Analysis modules of the server, over what its store has of a job: choose one, and see the table that it makes.

import { Table, type Column } from "../table";
import { ask } from "./server";
import { count } from "../format";
import { h, svg } from "../element";

interface Parameter { name: string; type: string; required: boolean; default: unknown }
interface Module { name: string; about?: string; parameters?: Parameter[]; error?: string }
type Cell = string | number | boolean | null;
type Row = Record<string, Cell>;

const WIDE = 640, HIGH = 140, BARS = 200;

/** Those that look at one job, and need nothing else to be said. */
const fits = (one: Module) => one.parameters?.some((parameter) => parameter.name === "job") === true
  && one.parameters.every((parameter) => parameter.name === "job" || !parameter.required);

/** The panel; empty where the server has no store or no modules. */
export function analyses(job: string): HTMLElement {
  const node = h("section", { class: "live-analyses", "aria-label": "Analyses" });
  void list(node, job);
  return node;
}

async function list(node: HTMLElement, job: string): Promise<void> {
  let all: Module[];
  // A server without a store has none, which is no news.
  try { all = (await ask<{ analyses: Module[] }>("/api/analyse")).analyses.filter(fits); } catch { return; }
  if (all.length === 0) return;
  const shown = h("div", { class: "analysis" });
  const choice = h("select", { id: "analysis", "aria-label": "analysis", change: () => void run(shown, choice.value, job) },
    h("option", { value: "" }, "choose"), ...all.map((one) => h("option", { value: one.name, title: one.about ?? "" }, one.name)));
  node.append(h("h2", {}, "Analyses ", choice), shown);
}

async function run(shown: HTMLElement, name: string, job: string): Promise<void> {
  if (!name) { shown.replaceChildren(); return; }
  shown.replaceChildren(h("p", { class: "muted" }, `${name} is computed …`));
  try {
    const rows = await ask<Row[]>(`/api/analyse/${encodeURIComponent(name)}?job=${encodeURIComponent(job)}&format=json`);
    shown.replaceChildren(...(rows.length === 0 ? [h("p", { class: "muted" }, "It gives no rows.")] : [picture(rows), table(name, rows)]));
  } catch (error) {
    shown.replaceChildren(h("p", { class: "error" }, error instanceof Error ? error.message : String(error)));
  }
}

const shows = (value: Cell | undefined) => typeof value === "number" ? (Number.isInteger(value) ? count(value) : value.toPrecision(5)) : String(value ?? "");

function table(name: string, rows: Row[]): HTMLElement {
  const columns = Object.keys(rows[0]!).map((key): Column<Row> => ({
    name: key, value: (row) => typeof row[key] === "number" ? row[key] : String(row[key] ?? ""), text: (row) => shows(row[key]),
  }));
  return new Table<Row>({ id: `analysis-${name}`, caption: name, rows, columns, sort: -1 }).node;
}

/** The last column of numbers as bars, one a row: enough to see what stands out. */
function picture(rows: Row[]): Element {
  const keys = Object.keys(rows[0]!), last = keys.filter((key) => rows.some((row) => typeof row[key] === "number")).at(-1);
  if (last === undefined) return h("p", { class: "muted" }, "There are no numbers to draw.");
  const drawn = rows.slice(0, BARS), value = (row: Row) => typeof row[last] === "number" ? Math.abs(row[last]) : 0;
  const most = Math.max(Number.MIN_VALUE, ...drawn.map(value)), step = WIDE / drawn.length;
  const bar = (row: Row, at: number) => svg("rect", {
    x: at * step, y: HIGH * (1 - value(row) / most), width: Math.max(1, step - 1), height: HIGH * value(row) / most, fill: "currentColor",
  }, svg("title", {}, keys.map((key) => `${key}: ${shows(row[key])}`).join("\n")));
  return h("figure", {}, svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, role: "img", "aria-label": `${last}, a bar a row` }, ...drawn.map(bar)),
    h("figcaption", { class: "muted" }, `${last}, a bar a row${rows.length > BARS ? `, the first ${BARS} of ${count(rows.length)}` : ""}`));
}

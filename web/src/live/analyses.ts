// Analysis modules of the server, over what its store has of a job or of all: choose one, and see the table that it makes.

import type { Jobs } from "./model";
import { Table, type Column } from "../table";
import { LINES, courses, lines, type Cell, type Row } from "./courses";
import { ask } from "./server";
import { count } from "../format";
import { h, svg } from "../element";

interface Parameter { name: string; type: string; required: boolean; default: unknown }
interface Module { name: string; about?: string; parameters?: Parameter[]; error?: string }

const WIDE = 860, HIGH = 120, LEFT = 70, TOP = 8, BARS = 200;

/** Those that need nothing to be said but the job; of a whole site, those that need nothing. */
const fits = (one: Module, job: string | null) => (one.parameters ?? []).every((parameter) => !parameter.required || (parameter.name === "job" && job !== null))
  && (one.parameters ?? []).some((parameter) => parameter.name === "job") === (job !== null) && one.error === undefined;

/** The panel, of one job or of everything that one sees; empty where the server has no store or no modules. */
export function analyses(job: string | null): HTMLElement {
  const node = h("section", { class: "live-analyses", "aria-label": "Analyses" });
  void list(node, job);
  return node;
}

async function list(node: HTMLElement, job: string | null): Promise<void> {
  let all: Module[] = [];
  // A server without a store has none, and would refuse.
  try {
    const { store } = await ask<Jobs>("/api/jobs?limit=1");
    if (store) all = (await ask<{ analyses: Module[] }>("/api/analyse")).analyses.filter((one) => fits(one, job));
  } catch { return; }
  if (all.length === 0) return;
  const shown = h("div", { class: "analysis" }), about = h("p", { class: "muted" });
  const changed = () => {
    about.textContent = all.find((one) => one.name === choice.value)?.about ?? "";
    void run(shown, choice.value, job);
  };
  const choice = h("select", { id: "analysis", "aria-label": "analysis", change: changed },
    h("option", { value: "" }, "choose"), ...all.map((one) => h("option", { value: one.name, title: one.about ?? "" }, one.name)));
  node.append(h("h2", { class: "part" }, "Analyses ", choice), about, shown);
}

async function run(shown: HTMLElement, name: string, job: string | null): Promise<void> {
  // Only what was chosen last is shown, whatever is answered first.
  shown.dataset["name"] = name;
  const put = (...parts: Element[]) => { if (shown.dataset["name"] === name) shown.replaceChildren(...parts); };
  if (!name) { put(); return; }
  put(h("p", { class: "muted" }, `${name} is computed …`));
  try {
    const rows = await ask<Row[]>(`/api/analyse/${encodeURIComponent(name)}?${job === null ? "" : `job=${encodeURIComponent(job)}&`}format=json`);
    put(...(rows.length === 0 ? [h("p", { class: "muted" }, "It gives no rows.")] : [picture(rows), table(name, rows)]));
  } catch (error) {
    put(h("p", { class: "error" }, error instanceof Error ? error.message : String(error)));
  }
}

const shows = (value: Cell | undefined) => typeof value === "number" ? (Number.isInteger(value) || Math.abs(value) >= 1e5 ? count(value) : value.toPrecision(5)) : String(value ?? "");

function table(name: string, rows: Row[]): HTMLElement {
  const columns = Object.keys(rows[0]!).map((key): Column<Row> => ({
    name: key, value: (row) => typeof row[key] === "number" ? row[key] : String(row[key] ?? ""), text: (row) => shows(row[key]),
  }));
  return new Table<Row>({ id: `analysis-${name}`, caption: name, rows, columns, sort: -1 }).node;
}

/** Columns that say what a row is about; they are written below the bars, not drawn. */
const KEYS = new Set(["t", "rank", "hour", "node", "job", "op", "exe", "nprocs", "pid"]);

const numbers = (rows: Row[], key: string) => rows.map((row) => row[key]).filter((value) => typeof value === "number");

/** How much a column differs from row to row, by its mean. */
function spread(rows: Row[], key: string): number {
  const all = numbers(rows, key), mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  return Math.sqrt(all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / all.length) / (Math.abs(mean) || 1);
}

/** A column of numbers, at first the one that differs most: over time where rows are about it, else as bars, one a row. */
function picture(rows: Row[]): Element {
  const drawable = Object.keys(rows[0]!).filter((key) => !KEYS.has(key) && numbers(rows, key).length > 0);
  if (drawable.length === 0) return h("p", { class: "muted" }, "There are no numbers to draw.");
  const found = courses(rows, KEYS), draw = (key: string) => found ? lines(found, key, shows) : bars(rows, key);
  const shown = h("div", {}), first = [...drawable].sort((one, other) => spread(rows, other) - spread(rows, one))[0]!;
  const choice = h("select", { "aria-label": "column that is drawn", change: () => shown.replaceChildren(draw(choice.value)) },
    ...drawable.map((key) => h("option", { value: key, selected: key === first }, key)));
  shown.append(draw(first));
  const one = found ? " over time" : " a bar a row";
  const some = found ? (found.length > LINES ? `, the ${LINES} largest of ${count(found.length)}` : "") : (rows.length > BARS ? `, the first ${BARS} of ${count(rows.length)}` : "");
  return h("figure", {}, h("figcaption", {}, choice, h("span", { class: "muted" }, one + some)), shown);
}

function bars(rows: Row[], key: string): Element {
  const drawn = rows.slice(0, BARS), value = (row: Row) => typeof row[key] === "number" ? Math.abs(row[key]) : 0;
  const most = Math.max(Number.MIN_VALUE, ...drawn.map(value)), step = (WIDE - LEFT) / drawn.length;
  // What a module points at: a row of which it says yes.
  const lit = (row: Row) => Object.values(row).includes(true);
  const bar = (row: Row, at: number) => svg("rect", {
    class: lit(row) ? "lit" : "", x: LEFT + at * step, y: TOP + HIGH * (1 - value(row) / most), width: Math.max(1, Math.min(step - 1, 48)), height: HIGH * value(row) / most,
  }, svg("title", {}, Object.keys(row).map((name) => `${name}: ${shows(row[name])}`).join("\n")));
  const named = (row: Row) => Object.keys(row).filter((name) => KEYS.has(name)).map((name) => name === "t" ? shows(row[name]).slice(11, 19) : `${name} ${shows(row[name])}`).join(", ");
  const said = (x: number, y: number, anchor: string, text: string) => svg("text", { x, y, "text-anchor": anchor }, text);
  const below = drawn.length > 1 ? [said(WIDE, TOP + HIGH + 14, "end", named(drawn.at(-1)!))] : [];
  return svg("svg", { class: "analysis-bars", viewBox: `0 0 ${WIDE} ${TOP + HIGH + 18}`, role: "img", "aria-label": `${key}, a bar a row` },
    svg("path", { d: `M${LEFT} ${TOP}H${WIDE}M${LEFT} ${TOP + HIGH}H${WIDE}` }), said(LEFT - 6, TOP + 4, "end", shows(most)), said(LEFT - 6, TOP + HIGH, "end", "0"),
    ...drawn.map(bar), said(LEFT, TOP + HIGH + 14, "start", named(drawn[0]!)), ...below);
}

// Rows of an analysis that follow each other in time: a line for each node, rank or operation.

import { svg } from "../element";

export type Cell = string | number | boolean | null;
export type Row = Record<string, Cell>;
/** One of those that rows are about, with its rows in their order. */
export interface Course { name: string; rows: Row[] }

const WIDE = 860, HIGH = 150, LEFT = 70, TOP = 8, DOTS = 100;
/** So many can be told apart. */
export const LINES = 8;

/** The courses of rows with a time, if there are any: rows that are about something else each have no course. */
export function courses(rows: Row[], keys: ReadonlySet<string>): Course[] | null {
  const names = Object.keys(rows[0]!);
  if (!names.includes("t")) return null;
  const about = names.filter((name) => keys.has(name) && name !== "t"), found = new Map<string, Row[]>();
  for (const row of rows) {
    const name = about.map((key) => `${key} ${String(row[key] ?? "")}`).join(", ");
    const known = found.get(name);
    if (known) known.push(row); else found.set(name, [row]);
  }
  if (found.size * 2 > rows.length) return null;
  return [...found].map(([name, all]) => ({ name, rows: [...all].sort((a, b) => when(a) - when(b)) }));
}

const when = (row: Row) => Date.parse(String(row["t"]));
const amount = (row: Row, key: string) => typeof row[key] === "number" ? row[key] : 0;
const color = (at: number, all: number) => `hsl(${Math.round(210 + at * 360 / Math.max(all, 3)) % 360} 65% 48%)`;

/** The largest of them over time, with their names. `says` writes a number. */
export function lines(list: readonly Course[], key: string, says: (value: Cell | undefined) => string): Element {
  const sum = (course: Course) => course.rows.reduce((all, row) => all + amount(row, key), 0);
  const drawn = [...list].sort((a, b) => sum(b) - sum(a)).slice(0, LINES).sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  const times = drawn.flatMap((course) => course.rows.map(when)), begin = Math.min(...times), end = Math.max(...times, begin + 1);
  const most = Math.max(Number.MIN_VALUE, ...drawn.flatMap((course) => course.rows.map((row) => amount(row, key))));
  const x = (row: Row) => LEFT + (when(row) - begin) / (end - begin) * (WIDE - LEFT - 4), y = (row: Row) => TOP + HIGH * (1 - amount(row, key) / most);
  const text = (at: number, high: number, anchor: string, words: string) => svg("text", { x: at, y: high, "text-anchor": anchor }, words);
  const clock = (time: number) => new Date(time).toISOString().slice(11, 19);
  const one = (course: Course, at: number) => {
    const paint = color(at, drawn.length), path = course.rows.map((row, place) => `${place ? "L" : "M"}${x(row).toFixed(1)} ${y(row).toFixed(1)}`).join("");
    const dots = course.rows.length > DOTS ? [] : course.rows.map((row) => svg("circle", { cx: x(row).toFixed(1), cy: y(row).toFixed(1), r: 2.5, fill: paint },
      svg("title", {}, Object.keys(row).map((name) => `${name}: ${says(row[name])}`).join("\n"))));
    return svg("g", { class: "course" }, svg("path", { d: path, stroke: paint }, svg("title", {}, course.name)), ...dots);
  };
  // Names below, four in a line, each in the colour of its line.
  const named = drawn.map((course, at) => svg("text", { class: "named", x: LEFT + at % 4 * (WIDE - LEFT) / 4, y: TOP + HIGH + 32 + Math.floor(at / 4) * 15, fill: color(at, drawn.length) }, `● ${course.name}`));
  return svg("svg", { class: "analysis-lines", viewBox: `0 0 ${WIDE} ${TOP + HIGH + 24 + Math.ceil(drawn.length / 4) * 15}`, role: "img", "aria-label": `${key} over time, ${drawn.length} lines` },
    svg("path", { class: "edge", d: `M${LEFT} ${TOP}H${WIDE}M${LEFT} ${TOP + HIGH}H${WIDE}` }), text(LEFT - 6, TOP + 4, "end", says(most)), text(LEFT - 6, TOP + HIGH, "end", "0"),
    text(LEFT, TOP + HIGH + 14, "start", clock(begin)), text(WIDE, TOP + HIGH + 14, "end", `${clock(end)} UTC`), ...drawn.map(one), ...named);
}

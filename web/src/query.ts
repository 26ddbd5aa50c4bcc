// Answers the queries of views: rows of a table that fit, in groups, in an order, as values.
// netra has checked names and types when it read the file.

import type { Expression, View } from "./model";

export type Value = number | string;

/** A table of facts: columns by name, all of the same length. */
export interface Facts {
  count: number;
  column(name: string): ArrayLike<Value>;
  /** Whether a row is what the chosen finding is about. */
  lit?: (row: number) => boolean;
  /** What the reader should know about where the rows come from. */
  note?: string;
}

/** One bar, box, point or line of a table. */
export interface Row { x: Value; values: number[]; lit: boolean }

/** The answer to a view: one chart for each value of `per`. */
export interface Answer { name: string | null; rows: Row[] }

type Of = (rows: readonly number[]) => Value;

export function answer(view: View, facts: Facts): Answer[] {
  const compile = compiler(facts);
  let rows = Array.from({ length: facts.count }, (_, row) => row);
  if (view.where) { const fits = compile(view.where); rows = rows.filter((row) => fits([row])); }
  const charts = new Map<Value | null, number[]>(), per = view.chart.per ? compile(view.chart.per) : null;
  for (const row of rows) { const key = per ? per([row]) : null; const known = charts.get(key); if (known) known.push(row); else charts.set(key, [row]); }
  return [...charts].map(([name, inside]) => ({ name: name === null ? null : String(name), rows: one(view, facts, compile, inside) }));
}

function one(view: View, facts: Facts, compile: (e: Expression) => Of, rows: number[]): Row[] {
  let groups: number[][] = rows.map((row) => [row]);
  if (view.group) {
    const found = new Map<Value, number[]>(), by = compile(view.group);
    for (const row of rows) { const key = by([row]), known = found.get(key); if (known) known.push(row); else found.set(key, [row]); }
    groups = [...found.values()];
  }
  if (view.sort) {
    const by = compile(view.sort), turn = view.down ? -1 : 1;
    const keyed = groups.map((group) => [by(group), group] as const);
    keyed.sort(([a], [b]) => turn * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))));
    groups = keyed.map(([, group]) => group);
  }
  if (view.limit !== null) groups = groups.slice(0, view.limit);
  const x = compile(view.chart.x), values = view.series.map((series) => compile(series.value));
  return groups.map((group) => ({ x: x(group), values: values.map((value) => Number(value(group))), lit: facts.lit ? group.some((row) => facts.lit!(row)) : false }));
}

const OVER_ROWS: Record<string, (values: number[]) => number> = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  min: (values) => values.reduce((a, b) => Math.min(a, b), Infinity),
  max: (values) => values.reduce((a, b) => Math.max(a, b), -Infinity),
  mean: (values) => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length),
  median: (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0,
  count: (values) => values.length,
};

const BETWEEN: Record<string, (a: Value, b: Value) => Value> = {
  "+": (a, b) => Number(a) + Number(b), "-": (a, b) => Number(a) - Number(b),
  "*": (a, b) => Number(a) * Number(b), "/": (a, b) => Number(b) === 0 ? 0 : Number(a) / Number(b),
  "=": (a, b) => Number(a === b), "!=": (a, b) => Number(a !== b),
  "<": (a, b) => Number(a < b), ">": (a, b) => Number(a > b), "<=": (a, b) => Number(a <= b), ">=": (a, b) => Number(a >= b),
  and: (a, b) => Number(Boolean(a) && Boolean(b)), or: (a, b) => Number(Boolean(a) || Boolean(b)),
};

/** Turns expressions into functions of a group of rows; a column is that of its first row. */
function compiler(facts: Facts): (expression: Expression) => Of {
  const compile = (expression: Expression): Of => {
    const [name, first, second] = expression;
    if (name === "number" || name === "text") { const value = first as Value; return () => value; }
    if (name === "column") { const values = facts.column(first as string); return (rows) => values[rows[0]!]!; }
    const over = OVER_ROWS[name];
    if (over) { const inner = compile(first as Expression); return (rows) => over(rows.map((row) => Number(inner([row])))); }
    const between = BETWEEN[name];
    if (!between) throw new Error(`a view uses ${name}, which this page does not know`);
    const [left, right] = [compile(first as Expression), compile(second as Expression)];
    return (rows) => between(left(rows), right(rows));
  };
  return compile;
}

/** At most so many rows: of neighbours the largest value of each series stands for all. */
export function gathered(rows: Row[], most: number): { rows: Row[]; per: number } {
  const per = Math.max(1, Math.ceil(rows.length / Math.max(1, most)));
  if (per === 1) return { rows, per };
  const out: Row[] = [];
  for (let at = 0; at < rows.length; at += per) {
    const group = rows.slice(at, at + per), top = group.reduce((a, b) => b.values[0]! > a.values[0]! ? b : a);
    out.push({ x: top.x, values: top.values.map((_, of) => Math.max(...group.map((row) => row.values[of]!))), lit: group.some((row) => row.lit) });
  }
  return { rows: out, per };
}

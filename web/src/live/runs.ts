// Many runs of one program: how their times and rates are spread, where one of them stands, which are unusual and by
// what, whether the hour of the day or the node matters.

import { type Column, Table } from "../table";
import { type Dot, daytime, strip } from "./chart";
import { ask } from "./server";
import { h } from "../element";
import { bytes, count, plural } from "../format";
import { duration, moment } from "./words";
import { top } from "./top";

interface Why { measure: string; value?: number; factor?: number; finding?: string }
export interface Run {
  job: string; user: string; ranks: number; start: number; end: number | null; hour: number | null; nodes: string[];
  missing: string | null; findings: [string, number][]; unusual: Why[] | null;
  run_seconds: number | null; io_seconds: number | null; read_rate: number | null; write_rate: number | null; bytes_read: number; bytes_written: number;
}
export interface Runs {
  now: number; wrong: string | null; program: string; trend: number | null;
  nodes: { node: string; runs: number; io_seconds: number }[]; runs: Run[];
}

const perSecond = (value: number) => `${bytes(value)}/s`;
type Measure = "run_seconds" | "io_seconds" | "read_rate" | "write_rate" | "bytes_read" | "bytes_written";
const MEASURES: [Measure, string, (value: number) => string][] = [
  ["run_seconds", "how long it ran", duration], ["io_seconds", "time in calls, slowest rank", duration],
  ["read_rate", "reading, a process", perSecond], ["write_rate", "writing, a process", perSecond],
  ["bytes_read", "read", bytes], ["bytes_written", "written", bytes],
];
const named = new Map(MEASURES.map(([key, title, text]) => [key as string, { title, text }]));

/** What is unusual about a run, in words. */
export function why(run: Pick<Run, "unusual">): string {
  return (run.unusual ?? []).map((one) => {
    if (one.finding) return `${one.finding}, which few others have`;
    const about = named.get(one.measure)!, factor = one.factor ?? 1;
    const times = factor >= 1 ? `${factor.toFixed(1)} times` : `${(1 / Math.max(1e-9, factor)).toFixed(1)} times less than`;
    return `${about.title} ${about.text(one.value ?? 0)}, ${times} the middle`;
  }).join("; ");
}

/** The pictures of runs, with one of them lit. */
export function pictures(runs: readonly Run[], lit: string | null): HTMLElement {
  const ended = runs.filter((run) => run.end !== null);
  const dot = (run: Run, value: number, says: string): Dot => ({ value, says: `${run.job}, ${moment(run.start)}: ${says}`, href: `/jobs/${encodeURIComponent(run.job)}`, lit: run.job === lit, odd: (run.unusual ?? []).length > 0 });
  const strips = MEASURES.flatMap(([key, title, text]) => {
    const dots = ended.flatMap((run) => run[key] === null || (run[key] === 0 && key !== "io_seconds") ? [] : [dot(run, run[key]!, text(run[key]!))]);
    return dots.length > 1 ? [strip(title, dots, text)] : [];
  });
  const hours = ended.flatMap((run) => run.hour === null || run.io_seconds === null ? [] : [{ ...dot(run, run.io_seconds, duration(run.io_seconds)), hour: run.hour }]);
  return h("div", { class: "run-pictures" }, ...strips, hours.length > 1 ? daytime("time in calls by hour of the day", hours, duration) : null);
}

export class RunsPage {
  readonly node: HTMLElement;
  readonly #program: string;
  readonly #body = h("div", { class: "site" });
  readonly #says = h("p", { class: "more", role: "status" });

  constructor(program: string) {
    this.#program = program;
    this.node = h("div", { class: "live" }, top("runs"), h("h1", {}, `Runs of ${program}`), this.#says, this.#body);
    document.title = `${program}: runs`;
    void this.#look();
  }

  async #look(): Promise<void> {
    const words = new URLSearchParams(location.search), ranks = words.get("ranks");
    words.set("program", this.#program);
    try {
      const found = await ask<Runs>(`/api/runs?${words.toString()}`);
      const odd = found.runs.filter((run) => run.unusual?.length).length;
      const trend = found.trend === null ? "" : ` Newer runs take ${found.trend.toFixed(2)} times as long in calls as older ones.`;
      this.#says.textContent = `${plural(found.runs.length, "run")}${ranks ? ` on ${plural(Number(ranks), "rank")}` : ""}, ${odd} unusual${odd > 0 ? " (orange)" : ""}.${trend}${found.wrong ? ` The store: ${found.wrong}.` : ""}`;
      this.#body.replaceChildren(pictures(found.runs, words.get("job")), table(found.runs), nodes(found));
    } catch (error) {
      this.#says.textContent = `This cannot be shown: ${error instanceof Error ? error.message : String(error)}; trying again.`;
      setTimeout(() => void this.#look(), 5000);
    }
    document.documentElement.dataset["ready"] = "true";
  }
}

function table(rows: Run[]): HTMLElement {
  const link = (run: Run) => h("a", { href: `/jobs/${encodeURIComponent(run.job)}` }, run.job);
  const measured = ([key, title, text]: typeof MEASURES[number]): Column<Run> => ({ name: title, value: (run) => run[key] ?? 0, text: (run) => run[key] === null ? "–" : text(run[key]!) });
  return h("section", { "aria-label": "Runs" }, h("h2", { class: "part" }, "Runs"), new Table<Run>({
    id: "runs", caption: "Runs", rows, sort: 1,
    columns: [
      { name: "job", value: (run) => run.job, text: link }, { name: "began", value: (run) => run.start, text: (run) => moment(run.start) }, { name: "user", value: (run) => run.user },
      { name: "ranks", value: (run) => run.ranks }, { name: "nodes", value: (run) => run.nodes.length, text: (run) => run.nodes.length <= 2 ? run.nodes.join(", ") || "–" : `${run.nodes[0]!} and ${run.nodes.length - 1} more` },
      ...MEASURES.map(measured),
      { name: "findings", value: (run) => run.findings.length, text: (run) => run.findings.slice(0, 3).map(([slug]) => slug).join(", ") || "–", words: true },
      { name: "unusual by", value: (run) => (run.unusual ?? []).length, text: (run) => why(run) || "–", words: true },
    ],
  }).node);
}

function nodes(found: Runs): HTMLElement {
  return h("section", { "aria-label": "Nodes" }, h("h2", { class: "part" }, "By node"), new Table<Runs["nodes"][number]>({
    id: "nodes", caption: "Nodes", rows: found.nodes, sort: 2, more: found.nodes.length === 0 ? "On which nodes these ran is not known." : "",
    columns: [{ name: "node", value: (one) => one.node }, { name: "runs", value: (one) => one.runs, text: (one) => count(one.runs) }, { name: "time in calls, middle", value: (one) => one.io_seconds, text: (one) => duration(one.io_seconds) }],
  }).node);
}

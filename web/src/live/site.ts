// The site: all jobs that one sees, by file system, application and user; the runs of one application beside
// each other.

import { type Column, Table } from "../table";
import { ask } from "./server";
import { h } from "../element";
import { bytes, percent, plural, rate, seconds } from "../format";
import { top } from "./top";

interface Group { name: string; jobs: number; running: number; incomplete: number; bytes_read: number; bytes_written: number; reads: number; writes: number; read_seconds: number; write_seconds: number }
/** Least, median, most, and the median deviation as a share of the median. */
type Spread = [number, number, number, number];
interface Run { job: string; start: number | null; hour: number | null; run_seconds: number; io_seconds: number; bytes: number }
interface History { program: string; processes: number; count: number; run_seconds: Spread; io_seconds: Spread; rate: Spread; trend: number | null; unusual: { job: string; io_seconds: number; factor: number }[]; runs: Run[]; findings: [string, number][] }
interface Site { now: number; systems: Group[]; programs: Group[]; users: Group[]; histories: History[] }

const EVERY = 5000;

export class SitePage {
  readonly node: HTMLElement;
  readonly #body = h("div", { class: "site" });
  readonly #says = h("p", { class: "more", role: "status" });

  constructor() {
    this.node = h("div", { class: "live" }, top("site"), this.#says, this.#body);
    void this.#look();
    setInterval(() => void this.#look(), EVERY);
  }

  async #look(): Promise<void> {
    try {
      this.#show(await ask<Site>("/api/site"));
      document.documentElement.dataset["ready"] = "true";
      this.#says.textContent = "Of the jobs that this server has seen and you may see.";
    } catch (error) { this.#says.textContent = `The server is gone (${error instanceof Error ? error.message : String(error)}); trying again.`; }
  }

  #show(site: Site): void {
    // Whoever searches or sorts is left alone until they have done.
    if (this.#body.contains(document.activeElement)) return;
    this.#body.replaceChildren(
      part("By file system", groups("systems", "mounted at", site.systems)), part("By application", groups("programs", "application", site.programs)), part("By user", groups("users", "user", site.users)),
      part("Runs of the same application", histories(site.histories)));
  }
}

function part(title: string, table: HTMLElement): HTMLElement { return h("section", { "aria-label": title }, h("h2", { class: "part" }, title), table); }

function groups(id: string, name: string, rows: Group[]): HTMLElement {
  const sized = (title: string, value: (row: Group) => number): Column<Group> => ({ name: title, value, text: (row) => bytes(value(row)) });
  return new Table<Group>({
    id, caption: name, rows, sort: 4,
    columns: [
      { name, value: (row) => row.name || "not known" }, { name: "jobs", value: (row) => row.jobs }, { name: "running", value: (row) => row.running },
      { name: "something missing", value: (row) => row.incomplete },
      sized("read", (row) => row.bytes_read), sized("written", (row) => row.bytes_written), { name: "reads", value: (row) => row.reads }, { name: "writes", value: (row) => row.writes },
      { name: "reading, all processes", value: (row) => row.read_seconds, text: (row) => seconds(row.read_seconds) }, { name: "writing, all processes", value: (row) => row.write_seconds, text: (row) => seconds(row.write_seconds) },
      { name: "a process reads at", value: (row) => row.bytes_read / Math.max(1e-9, row.read_seconds), text: (row) => rate(row.bytes_read, row.read_seconds) },
      { name: "writes at", value: (row) => row.bytes_written / Math.max(1e-9, row.write_seconds), text: (row) => rate(row.bytes_written, row.write_seconds) },
    ],
  }).node;
}

const span = ([least, median, most]: Spread, text: (value: number) => string) => `${text(median)} (${text(least)} – ${text(most)})`;

function histories(rows: History[]): HTMLElement {
  const links = (one: History) => h("span", {}, ...one.unusual.slice(0, 3).flatMap((run, at) => [at > 0 ? ", " : "", h("a", { href: `/jobs/${encodeURIComponent(run.job)}` }, `${run.job} (${run.factor.toFixed(1)} times)`)]));
  return new Table<History>({
    id: "histories", caption: "Runs", rows, sort: 2, more: rows.length === 0 ? "No job has ended yet." : "",
    columns: [
      { name: "application", value: (one) => one.program }, { name: "ranks", value: (one) => one.processes }, { name: "runs", value: (one) => one.count },
      { name: "ran", value: (one) => one.run_seconds[1], text: (one) => span(one.run_seconds, seconds) },
      { name: "in calls, slowest rank", value: (one) => one.io_seconds[1], text: (one) => span(one.io_seconds, seconds) },
      { name: "varies by", value: (one) => one.io_seconds[3], text: (one) => percent(one.io_seconds[3]) },
      { name: "rate", value: (one) => one.rate[1], text: (one) => span(one.rate, (value) => `${bytes(value)}/s`) },
      { name: "newer runs", value: (one) => one.trend ?? 1, text: (one) => one.trend === null ? "–" : `${one.trend.toFixed(2)} times` },
      { name: "unusual", value: (one) => one.unusual.length, text: (one) => one.unusual.length === 0 ? "–" : links(one) },
      { name: "findings", value: (one) => one.findings.length, text: (one) => one.findings.slice(0, 3).map(([slug, runs]) => `${slug} in ${plural(runs, "run")}`).join(", ") || "–" },
    ],
  }).node;
}

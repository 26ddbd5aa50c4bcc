// The site: all jobs that one sees, by file system, application, user and time; how much runs differ; which jobs were
// covered, and why others were not; the runs of one application beside each other.

import { type Column, Table } from "../table";
import { analyses } from "./analyses";
import { ask } from "./server";
import { bars } from "./chart";
import { duration, moment } from "./words";
import { h } from "../element";
import { bytes, count, percent, plural, rate } from "../format";
import { top } from "./top";

/** Least, median, most, and the median deviation as a share of the median. */
type Spread = [number, number, number, number];
interface Group { name: string; jobs: number; running: number; incomplete: number; bytes_read: number; bytes_written: number; reads: number; writes: number; read_seconds: number; write_seconds: number; read_rate: Spread; write_rate: Spread }
interface History { program: string; processes: number; count: number; run_seconds: Spread; io_seconds: Spread; read_rate: Spread; write_rate: Spread; trend: number | null; unusual: { job: string; io_seconds: number; factor: number | null }[]; findings: [string, number][] }
interface Reason { why: string; count: number; jobs: string[] }
interface Times { width: number; from: number; to: number; steps: { at: number; bytes_read: number; bytes_written: number; read_seconds: number; write_seconds: number }[] }
interface Site {
  now: number; since: number; store: boolean; wrong: string | null; systems: Group[]; programs: Group[]; users: Group[]; times: Times;
  across: { read_rate: Spread; readers: number; write_rate: Spread; writers: number };
  cover: { jobs: number; running: number; whole: number; partly: Reason[]; not: Reason[] }; histories: History[];
}

const EVERY = 15_000, DAYS: [string, string][] = [["1", "the last day"], ["7", "the last week"], ["30", "the last 30 days"], ["365", "the last year"], ["36500", "all time"]];

export class SitePage {
  readonly node: HTMLElement;
  readonly #body = h("div", { class: "site" });
  readonly #says = h("p", { class: "more", role: "status" });
  #days = new URLSearchParams(location.search).get("days") ?? "30";

  constructor() {
    const days = h("select", { "aria-label": "time", id: "days" }, ...DAYS.map(([value, name]) => h("option", { value, selected: value === this.#days }, name)));
    days.addEventListener("change", () => {
      this.#days = days.value;
      history.replaceState(null, "", `/site?days=${days.value}`);
      days.blur();
      void this.#look();
    });
    this.node = h("div", { class: "live" }, top("site"), h("div", { class: "bar" }, days), this.#says, this.#body, analyses(null));
    document.title = "netra: the site";
    void this.#look();
    setInterval(() => void this.#look(), EVERY);
  }

  async #look(): Promise<void> {
    try {
      const site = await ask<Site>(`/api/site?days=${encodeURIComponent(this.#days)}`);
      this.#show(site);
      document.documentElement.dataset["ready"] = "true";
      const from = site.store ? "Of the store, and of what this server has seen" : "Of the jobs that this server has seen";
      this.#says.textContent = `${from}: ${plural(site.cover.jobs, "job")} that you may see.${site.wrong ? ` The store: ${site.wrong}.` : ""}`;
    } catch (error) { this.#says.textContent = `This cannot be shown: ${error instanceof Error ? error.message : String(error)}; trying again.`; }
  }

  #show(site: Site): void {
    // Whoever searches or sorts is left alone until they have done.
    if (this.#body.contains(document.activeElement)) return;
    const days = this.#days;
    this.#body.replaceChildren(over(site.times), cover(site.cover),
      part("By file system", groups("systems", "mounted at", site.systems, days)), part("By application", groups("programs", "application", site.programs, days), across(site)), part("By user", groups("users", "user", site.users, days)),
      part("Runs of the same application", histories(site.histories, days)));
  }
}

function part(title: string, ...rest: HTMLElement[]): HTMLElement { return h("section", { "aria-label": title }, h("h2", { class: "part" }, title), ...rest); }

function over(times: Times): HTMLElement {
  const list = times.steps.map((step) => ({
    at: step.at, parts: [{ kind: "write" as const, value: step.bytes_written }, { kind: "read" as const, value: step.bytes_read }],
    says: `${moment(step.at)}: ${bytes(step.bytes_read)} read at ${rate(step.bytes_read, step.read_seconds)}, ${bytes(step.bytes_written)} written at ${rate(step.bytes_written, step.write_seconds)} a process`,
  }));
  // Of all time, the years before the first job are left out.
  const far = times.to - times.from > 2 * 366 * 86400, from = far ? times.steps[0]?.at ?? times.from : times.from;
  const days = times.width >= 86400, old = times.to - from > 366 * 86400;
  const label = (at: number) => old ? moment(at).slice(0, 7) : days ? moment(at).slice(5, 10) : moment(at).slice(5);
  return part("Over time", bars(days ? "bytes a day" : "bytes an hour", list, { ...times, from }, bytes, label));
}

function cover(found: Site["cover"]): HTMLElement {
  const link = (job: string) => h("a", { href: `/jobs/${encodeURIComponent(job)}` }, job);
  const row = (one: Reason, named: boolean) => h("li", {}, h("b", {}, plural(one.count, "job")), ` ${one.why}: `, ...one.jobs.slice(0, 5).flatMap((job, at) => [at > 0 ? ", " : "", named ? link(job) : job]), one.count > 5 ? ` and ${count(one.count - 5)} more` : "");
  const lines = [
    h("p", { id: "covered" }, `Of ${plural(found.jobs - found.running, "job")} that ended, ${count(found.whole)} ${found.whole === 1 ? "is" : "are"} wholly covered; ${count(found.running)} still ${found.running === 1 ? "runs" : "run"}.`),
    found.partly.length > 0 ? h("div", {}, h("h3", {}, "Something is missing"), h("ul", { class: "reasons", id: "partly" }, ...found.partly.map((one) => row(one, true)))) : null,
    found.not.length > 0 ? h("div", {}, h("h3", {}, "Not recorded"), h("ul", { class: "reasons", id: "uncovered" }, ...found.not.map((one) => row(one, false)))) : null,
  ];
  return part("Which jobs are covered", h("div", { class: "cover" }, ...lines.filter((line) => line !== null)));
}

const perSecond = (value: number) => `${bytes(value)}/s`;
/** A line break only between the numbers. */
const span = ([least, median, most]: Spread, shows: (value: number) => string, text = (value: number) => shows(value).replaceAll(" ", "\u00a0")) => most <= 0 ? "–" : least === most ? text(median) : `${text(median)} (${text(least)} – ${text(most)})`;
const varies = (of: Spread) => of[2] <= 0 ? "–" : percent(of[3]);

function across(site: Site): HTMLElement {
  const { read_rate, readers, write_rate, writers } = site.across;
  const one = (word: string, of: Spread, among: number) => among < 2 ? "" : `${word}: a process of the middle application has ${perSecond(of[1])}, they vary by ${percent(of[3])} from ${perSecond(of[0])} to ${perSecond(of[2])} (${plural(among, "application")}).`;
  const says = [one("Reading", read_rate, readers), one("Writing", write_rate, writers)].filter(Boolean).join(" ");
  return h("p", { class: "more", id: "across" }, says ? `Across applications. ${says}` : "");
}

function groups(id: string, name: string, rows: Group[], days: string): HTMLElement {
  const sized = (title: string, value: (row: Group) => number): Column<Group> => ({ name: title, value, text: (row) => bytes(value(row)) });
  const spread = (title: string, of: (row: Group) => Spread): Column<Group>[] => [
    { name: title, value: (row) => of(row)[1], text: (row) => span(of(row), perSecond), words: true }, { name: "varies by", value: (row) => of(row)[3], text: (row) => varies(of(row)) }];
  return new Table<Group>({
    id, caption: name, rows, sort: 4,
    columns: [
      { name, value: (row) => row.name || "not known", text: (row) => id === "programs" && row.name ? h("a", { href: `/runs/${encodeURIComponent(row.name)}?days=${days}` }, row.name) : row.name || "not known" },
      { name: "jobs", value: (row) => row.jobs }, { name: "running", value: (row) => row.running }, { name: "something missing", value: (row) => row.incomplete },
      sized("read", (row) => row.bytes_read), sized("written", (row) => row.bytes_written), { name: "reads", value: (row) => row.reads, text: (row) => count(row.reads) }, { name: "writes", value: (row) => row.writes, text: (row) => count(row.writes) },
      { name: "reading, all processes", value: (row) => row.read_seconds, text: (row) => duration(row.read_seconds) }, { name: "writing, all processes", value: (row) => row.write_seconds, text: (row) => duration(row.write_seconds) },
      ...spread("a process reads at", (row) => row.read_rate), ...spread("a process writes at", (row) => row.write_rate),
    ],
  }).node;
}

function histories(rows: History[], days: string): HTMLElement {
  const links = (one: History) => h("span", {}, ...one.unusual.slice(0, 3).flatMap((run, at) => [at > 0 ? ", " : "", h("a", { href: `/jobs/${encodeURIComponent(run.job)}` }, `${run.job} (${run.factor === null ? duration(run.io_seconds) : `${run.factor.toFixed(1)} times`})`)]));
  const runs = (one: History) => h("a", { href: `/runs/${encodeURIComponent(one.program)}?ranks=${one.processes}&days=${days}` }, one.program || "not known");
  return new Table<History>({
    id: "histories", caption: "Runs", rows, sort: 2, more: rows.length === 0 ? "No job has ended yet." : "",
    columns: [
      { name: "application", value: (one) => one.program, text: runs }, { name: "ranks", value: (one) => one.processes }, { name: "runs", value: (one) => one.count },
      { name: "ran", value: (one) => one.run_seconds[1], text: (one) => span(one.run_seconds, duration), words: true },
      { name: "in calls, slowest rank", value: (one) => one.io_seconds[1], text: (one) => span(one.io_seconds, duration), words: true }, { name: "varies by", value: (one) => one.io_seconds[3], text: (one) => varies(one.io_seconds) },
      { name: "a process reads at", value: (one) => one.read_rate[1], text: (one) => span(one.read_rate, perSecond), words: true }, { name: "writes at", value: (one) => one.write_rate[1], text: (one) => span(one.write_rate, perSecond), words: true },
      { name: "newer runs", value: (one) => one.trend ?? 1, text: (one) => one.trend === null ? "–" : `${one.trend.toFixed(2)} times` },
      { name: "unusual", value: (one) => one.unusual.length, text: (one) => one.unusual.length === 0 ? "–" : links(one), words: true },
      { name: "findings", value: (one) => one.findings.length, text: (one) => one.findings.slice(0, 3).map(([slug, found]) => `${slug} in ${plural(found, "run")}`).join(", ") || "–", words: true },
    ],
  }).node;
}

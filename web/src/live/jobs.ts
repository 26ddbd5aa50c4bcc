// The list of jobs: which run, what they move, whether anything is wrong with them. Those that run are followed;
// those of the store are asked for when the choice changes, and now and then.

import type { Job, Jobs } from "./model";
import { ask, follow } from "./server";
import { h } from "../element";
import { bytes, count, percent, plural } from "../format";
import { duration, moment } from "./words";
import { top } from "./top";
import { trust } from "./strip";

interface Choice { search: string; state: string; user: string; exe: string; host: string; since: string }

const SINCE: Record<string, number> = { "": Infinity, "the last hour": 3600, "the last day": 86400, "the last week": 604800, "the last month": 30 * 86400 };
/** Milliseconds between two questions to the store, and between a keystroke and one. */
const EVERY = 15_000, SOON = 300;
/** Rows in sight. */
const MOST = 500;

const program = (job: Job) => (job.exe || job.command?.split(" ")[0] || "").split("/").at(-1) ?? "";

export class JobsPage {
  readonly node: HTMLElement;
  #live: Jobs = { now: 0, jobs: [] };
  #stored: Job[] = [];
  #wrong = "";
  readonly #choice: Choice;
  readonly #body = h("tbody");
  readonly #says = h("p", { class: "more", role: "status" });
  readonly #users = h("select", { "aria-label": "user", id: "user" });
  readonly #hosts = h("select", { "aria-label": "node", id: "host" });
  readonly #programs = h("select", { "aria-label": "application", id: "exe" });
  #link = "";
  #timer = 0;
  /** Counts questions to the store: only the newest one's answer is shown. */
  #asked = 0;
  /** Rows that stand, and what they show: only what changed is made anew. */
  readonly #rows = new Map<string, { shows: string; node: HTMLElement }>();

  constructor() {
    const words = new URLSearchParams(location.hash.replace(/^#/, "")), word = (name: string) => words.get(name) ?? "";
    this.#choice = { search: word("q"), state: word("state"), user: word("user"), exe: word("exe"), host: word("host"), since: word("since") };
    const search = h("input", { type: "search", placeholder: "search command, job, user, node", "aria-label": "search jobs", id: "search", value: this.#choice.search });
    search.addEventListener("input", () => this.#choose({ search: search.value }));
    const state = pick("state", ["", "running", "ended"], this.#choice.state, (value) => this.#choose({ state: value }));
    const since = pick("since", Object.keys(SINCE), this.#choice.since, (value) => this.#choose({ since: value }));
    this.#users.addEventListener("change", () => this.#choose({ user: this.#users.value }));
    this.#hosts.addEventListener("change", () => this.#choose({ host: this.#hosts.value }));
    this.#programs.addEventListener("change", () => this.#choose({ exe: this.#programs.value }));
    const heads = ["job", "state", "user", "began", "ranks", "time", "reading", "writing", "calls", "in calls", "read", "written", "findings", "events"];
    this.node = h("div", { class: "live" }, top("jobs"),
      h("div", { class: "bar" }, search, state, this.#users, this.#programs, this.#hosts, since),
      h("div", { class: "scroll jobs" }, h("table", {}, h("caption", { class: "unseen" }, "Jobs"),
        h("thead", {}, h("tr", {}, ...heads.map((name, at) => h("th", { scope: "col", class: at > 3 && at < 12 ? "number plain-head" : "plain-head" }, name)))), this.#body)), this.#says);
    follow<Jobs>("/api/stream", "jobs", (jobs) => this.#take(jobs), (link) => { this.#link = link === "lost" ? "The server is gone; trying again." : ""; this.update(); });
    void this.#search();
    setInterval(() => void this.#search(), EVERY);
  }

  #take(jobs: Jobs): void {
    const begun = performance.now(), root = document.documentElement.dataset;
    this.#live = jobs;
    this.update();
    root["ready"] = "true";
    root["update"] = Math.max(Number(root["update"] ?? 0), performance.now() - begun).toFixed(2);
    root["updates"] = String(Number(root["updates"] ?? 0) + 1);
  }

  #choose(change: Partial<Choice>): void {
    Object.assign(this.#choice, change);
    const { search, state, user, exe, host, since } = this.#choice, words = new URLSearchParams();
    for (const [key, value] of [["q", search], ["state", state], ["user", user], ["exe", exe], ["host", host], ["since", since]] as const) if (value) words.set(key, value);
    history.replaceState(null, "", words.size > 0 ? `#${words.toString()}` : location.pathname);
    this.update();
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#search(), SOON);
  }

  /** Asks the store for what is chosen; what runs is filtered here. */
  async #search(): Promise<void> {
    const { search, state, user, exe, host, since } = this.#choice, words = new URLSearchParams(), turn = ++this.#asked;
    for (const [key, value] of [["q", search], ["state", state], ["user", user], ["exe", exe], ["node", host]] as const) if (value) words.set(key, value);
    const back = SINCE[since] ?? Infinity;
    if (back < Infinity) words.set("from", String(Math.round(Date.now() / 1000 - back)));
    try {
      const found = await ask<Jobs>(`/api/jobs?${words.toString()}`);
      if (turn !== this.#asked) return;
      this.#stored = found.jobs.filter((job) => job.stored);
      this.#wrong = found.wrong ? `The store: ${found.wrong}.` : "";
    } catch { return; /* the line below says when the server is gone */ }
    document.documentElement.dataset["searched"] = String(turn);
    this.update();
  }

  #wanted(job: Job): boolean {
    const { search, state, user, exe, host, since } = this.#choice;
    const text = [job.job, job.command, job.exe, job.user, ...job.hosts].join(" ").toLowerCase();
    return search.toLowerCase().split(/\s+/).every((word) => text.includes(word)) && (!state || job.state === state) && (!exe || program(job) === exe)
      && (!user || (job.user ?? String(job.uid)) === user) && (!host || job.hosts.includes(host)) && (job.end ?? this.#live.now) >= this.#live.now - (SINCE[since] ?? Infinity);
  }

  update(): void {
    const known = new Set(this.#live.jobs.map((job) => job.job));
    const all = [...this.#live.jobs, ...this.#stored.filter((job) => !known.has(job.job))];
    const shown = all.filter((job) => this.#wanted(job));
    options(this.#users, "all users", all.map((job) => job.user ?? String(job.uid)), this.#choice.user);
    options(this.#hosts, "all nodes", all.flatMap((job) => job.hosts), this.#choice.host);
    options(this.#programs, "all applications", all.map(program), this.#choice.exe);
    this.#show(shown.slice(0, MOST));
    const running = all.filter((job) => job.state === "running").length;
    const none = document.documentElement.dataset["searched"] ? "No job has been seen yet." : "Looking for jobs…";
    const words = [all.length === 0 ? none : `${plural(shown.length, "job")} of ${count(all.length)}, ${count(running)} running.`, this.#wrong, this.#link];
    this.#says.textContent = words.filter(Boolean).join(" ");
  }

  /** Puts rows in their order; a row whose words are the same stays as it is. */
  #show(jobs: readonly Job[]): void {
    const gone = new Set(this.#rows.keys());
    let before: Element | null = null;
    for (const job of jobs) {
      const cells = texts(job), shows = cells.join("\t");
      let kept = this.#rows.get(job.job);
      if (!kept || kept.shows !== shows) {
        const node = row(job, cells);
        if (kept) kept.node.replaceWith(node);
        kept = { shows, node };
        this.#rows.set(job.job, kept);
      }
      gone.delete(job.job);
      const place: Element | null = before ? before.nextElementSibling : this.#body.firstElementChild;
      if (place !== kept.node) this.#body.insertBefore(kept.node, place);
      before = kept.node;
    }
    for (const key of gone) { this.#rows.get(key)?.node.remove(); this.#rows.delete(key); }
  }
}

/** The command without the folders of its program, which say least. */
const called = (job: Job) => job.command ? job.command.replace(/^\S*\//, "") : job.job;

/** What stands in the cells of a job. */
function texts(job: Job): string[] {
  const running = job.state === "running";
  const found = job.findings;
  const says = !found ? "…" : [found.high > 0 ? `${found.high} high` : "", found.warn > 0 ? plural(found.warn, "warning") : "", found.info > 0 ? plural(found.info, "note") : ""].filter(Boolean).join(", ") || "–";
  return [called(job), job.state, job.user ?? String(job.uid ?? "–"), moment(job.start),
    count(job.ranks), duration(job.elapsed), running ? `${bytes(job.read_rate)}/s` : "–", running ? `${bytes(job.write_rate)}/s` : "–", running ? `${count(job.call_rate)}/s` : "–",
    percent(job.share), bytes(job.bytes_read), bytes(job.bytes_written), says, trust(job.completeness)];
}

function row(job: Job, cells: readonly string[]): HTMLElement {
  const running = job.state === "running", found = job.findings;
  const level = found && found.high > 0 ? "high" : found && found.warn > 0 ? "warn" : "";
  const cell = (text: string, at: number) => {
    if (at === 0) return h("td", {}, h("a", { href: `/jobs/${encodeURIComponent(job.job)}`, title: `${job.command ?? ""}\n${job.job}` }, text));
    if (at === 1) return h("td", {}, h("span", { class: `state ${running ? "live" : "ended"}` }, text));
    if (at === 12) return h("td", { class: level, title: found ? job.worst ?? "" : "nobody has looked yet" }, text);
    return at > 3 && at < 12 ? h("td", { class: "number" }, text) : h("td", at === 13 ? { title: job.completeness.why ?? "" } : {}, text);
  };
  return h("tr", { "data-job": job.job, class: running ? "running" : "ended" }, ...cells.map(cell));
}

function pick(name: string, values: readonly string[], now: string, chosen: (value: string) => void): HTMLSelectElement {
  const list = h("select", { "aria-label": name, id: name }, ...values.map((value) => h("option", { value, selected: value === now }, value || `any ${name === "since" ? "time" : name}`)));
  list.addEventListener("change", () => chosen(list.value));
  return list;
}

/** Fills a list where its values have changed; what is chosen stays among them. */
function options(list: HTMLSelectElement, none: string, values: readonly string[], now: string): void {
  const wanted = [...new Set(now ? [...values, now] : values)].filter(Boolean).sort(), key = wanted.join("\n");
  if (list.dataset["values"] === key && list.options.length > 0) return;
  list.dataset["values"] = key;
  list.replaceChildren(h("option", { value: "" }, none), ...wanted.map((value) => h("option", { value, selected: value === now }, value)));
}

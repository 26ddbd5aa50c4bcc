// The list of jobs: which run, what they move, whether anything is wrong with them.

import type { Job, Jobs } from "./model";
import { follow } from "./server";
import { h } from "../element";
import { bytes, count, percent, plural, seconds, shortPath } from "../format";
import { top } from "./top";
import { trust } from "./strip";

interface Choice { search: string; state: string; user: string; host: string; since: string }

const SINCE: Record<string, number> = { "": Infinity, "the last hour": 3600, "the last day": 86400, "the last week": 604800 };

export class JobsPage {
  readonly node: HTMLElement;
  #jobs: Jobs = { now: 0, jobs: [] };
  readonly #choice: Choice;
  readonly #body = h("tbody");
  readonly #says = h("p", { class: "more", role: "status" });
  readonly #users = h("select", { "aria-label": "user", id: "user" });
  readonly #hosts = h("select", { "aria-label": "node", id: "host" });
  #link = "";

  constructor() {
    const words = new URLSearchParams(location.hash.replace(/^#/, ""));
    this.#choice = { search: words.get("q") ?? "", state: words.get("state") ?? "", user: words.get("user") ?? "", host: words.get("host") ?? "", since: words.get("since") ?? "" };
    const search = h("input", { type: "search", placeholder: "search command, job, user, node", "aria-label": "search jobs", id: "search", value: this.#choice.search });
    search.addEventListener("input", () => this.#choose({ search: search.value }));
    const state = pick("state", ["", "running", "ended"], this.#choice.state, (value) => this.#choose({ state: value }));
    const since = pick("since", Object.keys(SINCE), this.#choice.since, (value) => this.#choose({ since: value }));
    this.#users.addEventListener("change", () => this.#choose({ user: this.#users.value }));
    this.#hosts.addEventListener("change", () => this.#choose({ host: this.#hosts.value }));
    const heads = ["job", "state", "user", "ranks", "time", "reading", "writing", "calls", "in calls", "read", "written", "findings", "events"];
    this.node = h("div", { class: "live" }, top("jobs"),
      h("div", { class: "bar" }, search, state, this.#users, this.#hosts, since),
      h("div", { class: "scroll jobs" }, h("table", {}, h("caption", { class: "unseen" }, "Jobs"),
        h("thead", {}, h("tr", {}, ...heads.map((name, at) => h("th", { scope: "col", class: at > 2 && at < 11 ? "number plain-head" : "plain-head" }, name)))), this.#body)), this.#says);
    follow<Jobs>("/api/stream", "jobs", (jobs) => { this.#jobs = jobs; this.update(); document.documentElement.dataset["ready"] = "true"; },
      (link) => { this.#link = link === "lost" ? "The server is gone; trying again." : ""; this.update(); });
  }

  #choose(change: Partial<Choice>): void {
    Object.assign(this.#choice, change);
    const { search, state, user, host, since } = this.#choice, words = new URLSearchParams();
    for (const [key, value] of [["q", search], ["state", state], ["user", user], ["host", host], ["since", since]] as const) if (value) words.set(key, value);
    history.replaceState(null, "", words.size > 0 ? `#${words.toString()}` : location.pathname);
    this.update();
  }

  #wanted(job: Job): boolean {
    const { search, state, user, host, since } = this.#choice;
    const text = [job.job, job.command, job.exe, job.user, ...job.hosts].join(" ").toLowerCase();
    return search.toLowerCase().split(/\s+/).every((word) => text.includes(word)) && (!state || job.state === state)
      && (!user || (job.user ?? String(job.uid)) === user) && (!host || job.hosts.includes(host)) && (job.end ?? this.#jobs.now) >= this.#jobs.now - (SINCE[since] ?? Infinity);
  }

  update(): void {
    const all = this.#jobs.jobs, shown = all.filter((job) => this.#wanted(job));
    options(this.#users, "all users", all.map((job) => job.user ?? String(job.uid)), this.#choice.user);
    options(this.#hosts, "all nodes", all.flatMap((job) => job.hosts), this.#choice.host);
    this.#body.replaceChildren(...shown.slice(0, 500).map(row));
    const words = [all.length === 0 ? "No job has been seen yet." : `${plural(shown.length, "job")} of ${count(all.length)}, ${count(all.filter((job) => job.state === "running").length)} running.`, this.#link];
    this.#says.textContent = words.filter(Boolean).join(" ");
  }
}

function row(job: Job): HTMLElement {
  const number = (text: string) => h("td", { class: "number" }, text), running = job.state === "running";
  const { high, warn, info } = job.findings, name = job.command ?? job.job;
  const found = [high > 0 ? `${high} high` : "", warn > 0 ? plural(warn, "warning") : "", info > 0 ? plural(info, "note") : ""].filter(Boolean).join(", ");
  return h("tr", { "data-job": job.job, class: running ? "running" : "ended" },
    h("td", {}, h("a", { href: `/jobs/${encodeURIComponent(job.job)}`, title: `${name}\n${job.job}` }, shortPath(name, 60))),
    h("td", {}, h("span", { class: `state ${running ? "live" : "ended"}` }, running ? "running" : "ended")), h("td", {}, job.user ?? String(job.uid ?? "–")),
    number(count(job.ranks)), number(seconds(job.elapsed)), number(running ? `${bytes(job.read_rate)}/s` : "–"), number(running ? `${bytes(job.write_rate)}/s` : "–"), number(running ? `${count(job.call_rate)}/s` : "–"),
    number(percent(job.share)), number(bytes(job.bytes_read)), number(bytes(job.bytes_written)),
    h("td", { class: high > 0 ? "high" : warn > 0 ? "warn" : "", title: job.worst ?? "" }, found || "–"), h("td", {}, trust(job.completeness)));
}

function pick(name: string, values: readonly string[], now: string, chosen: (value: string) => void): HTMLSelectElement {
  const list = h("select", { "aria-label": name, id: name }, ...values.map((value) => h("option", { value, selected: value === now }, value || `any ${name === "since" ? "time" : name}`)));
  list.addEventListener("change", () => chosen(list.value));
  return list;
}

/** Fills a list where its values have changed. */
function options(list: HTMLSelectElement, none: string, values: readonly string[], now: string): void {
  const wanted = [...new Set(values)].sort(), key = wanted.join("\n");
  if (list.dataset["values"] === key && list.options.length > 0) return;
  list.dataset["values"] = key;
  list.replaceChildren(h("option", { value: "" }, none), ...wanted.map((value) => h("option", { value, selected: value === now }, value)));
}

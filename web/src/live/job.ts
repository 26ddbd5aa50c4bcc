// The page of one job while it runs: numbers of now, pictures that grow each second, and the report of the last
// diagnosis with all its views, over one axis of time.

import type { Report } from "../model";
import type { Update } from "./model";
import { analyses } from "./analyses";
import { Bands } from "./bands";
import { type Controls, Strip } from "./strip";
import { Columns, inflate } from "../column";
import { History } from "./history";
import { Page } from "../page";
import { Store } from "../selection";
import { Refused, ask, follow } from "./server";
import { beside } from "./beside";
import { empty } from "./empty";
import { files, findings, ranks } from "./sides";
import { h } from "../element";
import { keys } from "../keys";
import { pictures } from "./pictures";
import { plural, seconds } from "../format";
import { single } from "../single";
import { top } from "./top";

/** Milliseconds until a server is asked again that did not answer. */
const AGAIN = 1000;
/** Milliseconds between two drawings. Numbers follow each update, of which two come in a second; pictures are made of steps of a second or
 *  more, and half a step is no news. */
const DRAWING = 900;
/** Milliseconds between two looks at how long nothing has come. */
const WAIT = 500;

interface Document { number: number; report: Report; columns: string }

export class JobPage {
  readonly node: HTMLElement;
  readonly #key: string;
  readonly #history = new History();
  readonly #controls: Controls;
  readonly #strip: Strip;
  readonly #head = h("div", { class: "live-head" });
  readonly #side = h("div", { class: "live-side" });
  readonly #report = h("div", { class: "live-report" });
  /** Of how much of the run the report is. */
  readonly #age = h("span", { class: "muted" });
  readonly #beside = h("div", { class: "live-beside" });
  readonly #page: Page;
  readonly #live: Bands[];
  #shape = "";
  #shown = 0;
  #asking = false;
  #drawn = 0;
  #sided = 0;

  constructor(key: string) {
    this.#key = key;
    const at = Number(new URLSearchParams(location.hash.replace(/^#/, "")).get("at") ?? "");
    this.#controls = { moment: at > 0 ? at : null, paused: at > 0 };
    const { report, columns } = empty(key, 1);
    this.#page = new Page(report, columns, new Store());
    this.#strip = new Strip(this.#history, this.#controls, () => this.#draw(true));
    this.#live = pictures(this.#page, this.#history);
    this.#page.plots.push(...this.#live);
    this.node = h("div", { class: "live" }, top("jobs"), this.#head, this.#strip.node,
      h("div", { class: "live-panes" }, this.#side, h("div", { class: "views" }, ...this.#live.map((one) => one.figure))), this.#beside, this.#report, analyses(key));
    document.body.append(this.#page.tip.node, this.#page.tip.spoken);
    keys(this.#page.store);
    addEventListener("netra-theme", () => { this.#page.repaint(); this.#draw(true); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.#page.repaint(); this.#draw(true); });
    // While nothing comes, how far behind the page is grows all the same.
    setInterval(() => this.#strip.wait(), WAIT);
    void this.#begin();
  }

  /** A job that lies in the store is told once; one that runs is followed. */
  async #begin(): Promise<void> {
    try {
      const first = await ask<Update>(`/api/jobs/${encodeURIComponent(this.#key)}`);
      if (first.stored) { this.#strip.lost = false; this.#take(first); return; }
    } catch (error) {
      // What is not there yet may be soon: whoever starts a job is told where its page is before it begins.
      this.#strip.say(error instanceof Refused && error.status === 404 ? `${error.message}; looking again` : "the server is gone; trying again");
      setTimeout(() => void this.#begin(), AGAIN);
      return;
    }
    const following = follow<Update>(`/api/jobs/${encodeURIComponent(this.#key)}/stream`, "job", (update) => this.#take(update), (link) => {
      this.#strip.lost = link === "lost"; this.#strip.update();
      // The next server may know it from the store alone.
      if (link === "lost" && following.isClosed()) { following.stop(); setTimeout(() => void this.#begin(), AGAIN); }
    });
  }

  #take(update: Update): void {
    const before = this.#history.newest, first = before === null, ends = update.state === "ended" && before?.state !== "ended";
    this.#history.take(update);
    this.#strip.received();
    // Who follows a link to a moment looks at what there was when they came.
    if (first && this.#controls.paused) this.#history.hold(true);
    this.#about(update);
    if (!this.#controls.paused || first) this.#draw(first || ends);
    document.documentElement.dataset["ready"] = "true";
    if (first || ends) void this.#others(update);
    if (update.diagnosis.number !== this.#shown && (!this.#controls.paused || first)) void this.#look(update.diagnosis.number);
  }

  /** Other runs and neighbours: when it is first seen, and when it has ended. */
  async #others(update: Update): Promise<void> {
    this.#beside.replaceChildren(...await beside(update));
    document.documentElement.dataset["beside"] = String(this.#beside.childElementCount);
  }

  #about(update: Update): void {
    const when = new Date(update.start * 1000).toISOString().replace("T", " ").slice(0, 19);
    document.title = `${(update.command ?? update.job).split(" ")[0]!.split("/").at(-1)}${update.stored ? "" : ", live"}: I/O`;
    const facts = [plural(update.ranks, "rank"), plural(update.hosts.length, "node"), `began ${when} UTC`, update.user ?? (update.uid === null ? "" : `user ${update.uid}`), `job ${update.job}`].filter(Boolean).join(" · ");
    // Ranks and nodes come one by one.
    if (this.#head.lastElementChild?.textContent === facts) return;
    this.#head.replaceChildren(h("h1", { title: update.command ?? "" }, update.command ?? update.job), h("p", { class: "muted" }, facts));
  }

  /** Everything that grows; pictures and tables less often than numbers, and in turns, unless `all` is to be seen at once. */
  #draw(all: boolean): void {
    const { last } = this.#history, { moment } = this.#controls, now = performance.now();
    if (!last) return;
    this.#strip.update();
    const drawing = all || now - this.#drawn >= DRAWING, siding = all || now - this.#sided >= (drawing ? 2 * DRAWING : DRAWING);
    if (drawing) {
      this.#drawn = now;
      this.#page.share({ end: this.#history.end, ranks: last.ranks });
      for (const one of this.#live) { one.moment = moment; one.take(); }
      this.#page.redraw();
    }
    if (siding) {
      this.#sided = now;
      this.#side.replaceChildren(findings(this.#history, moment), ranks(this.#history, moment), files(this.#history, moment));
    }
  }

  /** Gets the report of a new diagnosis. */
  async #look(number: number): Promise<void> {
    if (this.#asking || number === 0) return;
    this.#asking = true;
    try {
      const found = await ask<Document>(`/api/jobs/${encodeURIComponent(this.#key)}/report`);
      const columns = new Columns(await inflate(found.columns), found.report.columns);
      this.#feed(found.report, columns);
      this.#shown = found.number;
      document.documentElement.dataset["report"] = String(found.number);
    } catch { /* the next update asks again */ } finally { this.#asking = false; }
  }

  #feed(report: Report, columns: Columns): void {
    const chosen = this.#page.finding()?.slug;
    this.#page.feed(report, columns);
    this.#age.textContent = this.#history.newest?.state === "ended" ? "" : `of the first ${seconds(report.job.run_time)}`;
    // A finding keeps its place in the reader's mind, not in the list.
    const at = report.findings.findIndex((one) => one.slug === chosen);
    if (chosen !== undefined && at !== this.#page.store.now.finding) this.#page.store.choose({ finding: at < 0 ? null : at, only: at >= 0 && this.#page.store.now.only });
    const shape = JSON.stringify([this.#page.marks.present(), report.targets.map((one) => one.layer), report.nodes?.layer ?? "", report.timeline.lanes.map((one) => one.layer), report.phases !== null, report.grids.map((one) => one.layer)]);
    if (shape !== this.#shape) this.#rebuild(shape);
  }

  /** Other layers, or the first calls: the report's parts are made anew. Otherwise they only get newer data. */
  #rebuild(shape: string): void {
    this.#shape = shape;
    this.#page.forget();
    this.#page.plots.push(...this.#live);
    this.#report.replaceChildren(h("h2", { class: "part" }, "The report ", this.#age), ...single(this.#page).slice(1));
    this.#page.redraw();
  }
}

// What all parts of the page share: the report, the selection, the colours, the tip under the
// pointer. One time axis, one range of ranks.

import type { Columns } from "./column";
import type { Finding, Report } from "./model";
import type { Hint } from "./plot";
import { h } from "./element";
import { Conflicts } from "./conflicts";
import { Marks } from "./marks";
import { Openings } from "./openings";
import { type Selection, Store } from "./selection";
import { type Theme, theme } from "./theme";

interface Drawn { schedule(): void; now(): void; cross(time: number | null): void }

/** What the axes span; several runs on one page share it. */
export interface Span { end: number; ranks: number }

export class Page {
  report: Report;
  columns: Columns;
  marks: Marks;
  conflicts: Conflicts;
  opens: Openings;
  readonly store: Store;
  readonly tip = new Tip();
  readonly plots: Drawn[] = [];
  theme: Theme = theme();
  shade: Uint8Array = new Uint8Array(0);
  #shaded = "";
  #fed: (() => void)[] = [];
  #span: Span | null = null;

  /** Added to names of parts where several runs share a page. */
  readonly suffix: string;

  constructor(report: Report, columns: Columns, store = new Store(), suffix = "") {
    this.store = store;
    this.suffix = suffix;
    this.report = report;
    this.columns = columns;
    this.marks = new Marks(report, columns);
    this.conflicts = new Conflicts(report, columns);
    this.opens = new Openings(report, columns);
    this.#reshade();
    store.follow(() => { this.#reshade(); this.tip.hide(); this.redraw(); });
  }

  /** Puts newer data in place of what is shown; the selection stays. Drawing knows nothing of
   *  where data come from: a page that follows a running job feeds it again and again. */
  feed(report: Report, columns: Columns): void {
    this.report = report;
    this.columns = columns;
    this.marks = new Marks(report, columns);
    this.conflicts = new Conflicts(report, columns);
    this.opens = new Openings(report, columns);
    this.#shaded = "";
    this.#reshade();
    for (const told of this.#fed) told();
    this.redraw();
  }

  /** Told when the data have changed. */
  onFeed(told: () => void): void { this.#fed.push(told); }

  /** Lets go of every part that was made, before others take their place. */
  forget(): void { this.#fed = []; this.plots.length = 0; }

  /** Makes the axes as long as those of others. */
  share(span: Span): void { this.#span = span; }

  /** Only what is filtered makes new shades; where one looks does not. */
  #reshade(): void {
    const { file, layer, way, finding, only } = this.store.now;
    const key = [file, layer, way, finding, only].join("|");
    if (key === this.#shaded) return;
    this.#shaded = key;
    this.shade = this.marks.shade(this.store.now, this.finding());
  }

  /** The name of a part in the document. */
  id(name: string): string { return name + this.suffix; }

  redraw(): void { for (const plot of this.plots) plot.schedule(); }

  /** After the colours have changed. */
  repaint(): void { this.theme = theme(); this.redraw(); }

  cross(time: number | null): void { for (const plot of this.plots) plot.cross(time); }

  finding(): Finding | null {
    const at = this.store.now.finding;
    return at === null ? null : this.report.findings[at] ?? null;
  }

  /** The line of the program that a column's number means; null where nobody knows. */
  line(number: number): string | null { return number === 1 ? "several places" : this.report.lines[number - 2] ?? null; }

  /** The visible time. */
  time(): readonly [number, number] { return this.store.now.time ?? [0, this.end()]; }
  end(): number { return Math.max(this.report.timeline.end, this.#span?.end ?? 0) || 1; }
  /** The visible ranks, the last included. */
  ranks(): readonly [number, number] { return this.store.now.ranks ?? [0, this.rankCount() - 1]; }
  rankCount(): number {
    let most = Math.max(this.report.job.nprocs, this.#span?.ranks ?? 0);
    for (const grid of this.report.grids) most = Math.max(most, (grid.rows - 1) * grid.ranks_per_row + 1);
    return Math.max(1, most);
  }

  moveTime(range: readonly [number, number]): void {
    this.store.drift({ time: this.#within(range), phase: null });
  }

  /** Keeps a range inside the run and not shorter than a microsecond; the whole run is no choice. */
  #within([a, b]: readonly [number, number]): readonly [number, number] | null {
    const end = this.end(), length = Math.min(end, Math.max(b - a, 1e-6));
    const from = Math.min(Math.max(0, a + (b - a - length) / 2), end - length);
    return length >= end * 0.9999 ? null : [from, from + length];
  }

  moveRanks(steps: number): void {
    const [a, b] = this.ranks(), length = b - a + 1;
    this.#chooseRanks(a + Math.round(steps * Math.max(1, length / 5)), length);
  }

  zoomRanks(factor: number): void {
    const [a, b] = this.ranks(), length = Math.max(1, Math.round((b - a + 1) * factor));
    this.#chooseRanks(Math.round((a + b + 1 - length) / 2), length);
  }

  #chooseRanks(first: number, length: number): void {
    const all = this.rankCount(), fits = Math.min(length, all);
    const from = Math.min(Math.max(0, first), all - fits);
    this.store.drift({ ranks: fits === all ? null : [from, from + fits - 1] });
  }

  /** What a brush means; `also` is chosen in the same step, so that one undo takes back all of it. */
  brush(kind: "time" | "ranks" | "offset", across: readonly [number, number] | null, up: readonly [number, number] | null, also: Partial<Selection> = {}): void {
    const time = { ...also, ...(across ? { time: this.#within(across), phase: null } : {}) };
    if (kind === "ranks" && up) {
      const last = this.rankCount() - 1;
      const ranks = [Math.max(0, Math.floor(up[0])), Math.min(last, Math.floor(up[1]))] as const;
      this.store.choose({ ...time, ranks: ranks[0] === 0 && ranks[1] === last ? null : ranks });
    } else if (kind === "offset" && up) {
      this.store.choose({ ...time, offset: [Math.max(0, up[0]), up[1]] });
    } else this.store.choose(time);
  }

  /** All times, ranks and offsets again; of what else is chosen, `kept`. */
  reset(kept: Partial<Selection> = {}): void { this.store.choose({ ...kept, time: null, phase: null, ranks: null, offset: null }); }
}

/** The box beside the pointer. */
class Tip {
  readonly node = h("div", { class: "tip", "aria-hidden": "true" });
  /** What the keys point at, for who listens. */
  readonly spoken = h("div", { class: "unseen", role: "status", "aria-live": "polite" });

  show(hint: Hint | null, x: number, y: number, aloud = false): void {
    if (aloud) this.spoken.textContent = hint ? [hint.title, ...hint.lines.map((line) => line.join(" "))].join(", ") : "nothing here";
    if (!hint) { this.hide(); return; }
    const rows = hint.lines.map(([name, value]) => h("tr", {}, h("th", {}, name), h("td", {}, value)));
    this.node.replaceChildren(h("b", {}, hint.title), h("table", {}, ...rows));
    this.node.style.display = "block";
    const { offsetWidth: w, offsetHeight: t } = this.node;
    const left = x + 14 + w > innerWidth - 8 ? x - w - 14 : x + 14;
    const top = y + 14 + t > innerHeight - 8 ? y - t - 14 : y + 14;
    this.node.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  }

  hide(): void { this.node.style.display = "none"; }
}

// The whole job over time: for each layer how many ranks were busy, opens and closes over reads over
// writes, with the phases above.

import type { Page } from "./page";
import type { Numbers } from "./column";
import type { Basis, Lane, Phase } from "./model";
import type { Scale } from "./scale";
import { type Hint, Plot } from "./plot";
import { linear } from "./scale";
import { bytes, percent, plural, rate, seconds } from "./format";

interface Band { layer: string; basis: Basis; read: Lane | null; write: Lane | null }

const PHASE_HEIGHT = 20, BAND_GAP = 8;

/** Pixels above the bands for the phases. */
function headHeight(page: Page): number { return page.report.phases ? PHASE_HEIGHT : 0; }

export class Timeline extends Plot {
  #bands: Band[] = [];
  /** Rank seconds in opens and closes, step by step, of layers that have any. */
  #opens = new Map<string, Float64Array>();
  /** What a band is drawn against, where other runs have the same layer. */
  #peaks: Map<string, number> | null = null;

  constructor(page: Page) {
    const bands = new Set(page.report.timeline.lanes.map((lane) => lane.layer)).size;
    super(page, { id: page.id("timeline"), title: "The whole job", height: Math.max(72, 34 + headHeight(page) + bands * ((bands <= 2 ? 46 : 36) + BAND_GAP)), brush: "time" });
    page.onFeed(() => this.#take());
    this.#take();
  }

  /** Draws bands against the peaks of all of these, so that heights can be compared. */
  static align(timelines: Timeline[]): void {
    const peaks = new Map<string, number>();
    for (const one of timelines) for (const band of one.#bands) peaks.set(band.layer, Math.max(peaks.get(band.layer) ?? 0, one.#highest(band)));
    for (const one of timelines) one.#peaks = peaks;
  }

  #take(): void {
    const bands = new Map<string, Band>();
    for (const lane of this.page.report.timeline.lanes) {
      const band = bands.get(lane.layer) ?? { layer: lane.layer, basis: lane.basis, read: null, write: null };
      band[lane.way] = lane;
      bands.set(lane.layer, band);
    }
    this.#bands = [...bands.values()];
    this.#opens = opens(this.page);
    const { verdict } = this.page.report, meta = verdict.parts[2];
    const of = (basis: Basis) => this.#bands.filter((band) => band.basis === basis).map((band) => band.layer).join(", ");
    const parts = [of("traced") || of("spread") ? `share of ranks that were busy${this.#opens.size > 0 ? ", also with opens and closes" : ""}` : ""];
    if (of("counted")) parts.push(`${of("counted")}: no trace, bytes counted over time`);
    if (of("spread")) parts.push(`${of("spread")}: no trace, seconds spread evenly from first to last call`);
    if (meta > 0.05 * verdict.seconds && this.page.opens.count === 0) parts.push(`${seconds(meta)} in metadata calls have no times and are not drawn`);
    this.note.textContent = parts.filter(Boolean).join("; ");
  }

  protected y(): Scale { return linear([0, 1], [this.height, 0]); }

  #top(at: number): { top: number; high: number } {
    const head = headHeight(this.page), all = this.height - head, high = all / Math.max(1, this.#bands.length);
    return { top: head + at * high, high: high - BAND_GAP };
  }

  protected draw(): void {
    const c = this.context, t = this.page.theme, [read, write, meta] = [t.css(t.read), t.css(t.write), t.css(t.meta)];
    c.font = "11px system-ui, sans-serif";
    const all = this.#bands.map((band) => this.#columns(band));
    const shares = all.filter((_, at) => this.#bands[at]!.basis !== "counted");
    // A band fills its height at its own peak, unless that is next to nothing beside the others.
    const floor = Math.max(0, ...shares.map((values) => values.peak)) / 20;
    this.#bands.forEach((band, at) => {
      const { top, high } = this.#top(at), values = all[at]!, counted = band.basis === "counted";
      const most = this.#peaks?.get(band.layer) ?? (counted ? values.peak : Math.max(values.peak, floor)), ground = top + high;
      c.fillStyle = t.ink; c.textAlign = "right"; c.textBaseline = "middle";
      c.fillText(band.layer, -8, top + high / 2 - 6);
      c.fillStyle = t.muted;
      if (values.peak > 0) c.fillText(counted ? rate(values.peak, 1) : `peak ${this.#share(values.peak)}`, -8, top + high / 2 + 8);
      const tall = (value: number) => value > 0 ? Math.max(1, value / most * high) : 0;
      // All bars of a colour in one path: a change of colour costs more than a bar.
      c.fillStyle = write; c.beginPath();
      for (let x = 0; x < values.write.length; x++) { const w = tall(values.write[x]!); if (w > 0) c.rect(x, ground - w, 1, w); }
      c.fill();
      c.fillStyle = read; c.beginPath();
      for (let x = 0; x < values.read.length; x++) { const r = tall(values.read[x]!); if (r > 0) c.rect(x, ground - values.write[x]! / most * high - r, 1, r); }
      c.fill();
      c.fillStyle = meta; c.beginPath();
      for (let x = 0; x < values.meta.length; x++) { const m = tall(values.meta[x]!); if (m > 0) c.rect(x, ground - (values.write[x]! + values.read[x]!) / most * high - m, 1, m); }
      c.fill();
      c.strokeStyle = t.line; c.beginPath(); c.moveTo(0, top + high + 0.5); c.lineTo(this.width, top + high + 0.5); c.stroke();
    });
    this.#phases();
    this.xAxis();
  }

  /** A share of ranks that were busy; of few ranks their number. */
  #share(value: number): string {
    const ranks = this.page.report.job.nprocs;
    return ranks > 8 ? percent(Math.min(1, value)).replace("below ", "<") : `${value * ranks < 0.05 ? "<0.1" : (Math.min(1, value) * ranks).toFixed(1)} of ${ranks}`;
  }

  /** A step's values: the share of ranks that were busy, or, where only bytes are known, their rate. */
  #values(band: Band): { read: Numbers | null; write: Numbers | null; meta: Numbers | null; factor: number } {
    const { end, bins } = this.page.report.timeline, counted = band.basis === "counted";
    const of = (lane: Lane | null) => lane && this.page.columns.get(counted ? lane.bytes : lane.busy);
    return { read: of(band.read), write: of(band.write), meta: counted ? null : this.#opens.get(band.layer) ?? null, factor: bins / end / (counted ? 1 : Math.max(1, this.page.report.job.nprocs)) };
  }

  #highest(band: Band): number {
    const { read, write, meta, factor } = this.#values(band), bins = this.page.report.timeline.bins;
    let most = 0;
    for (let b = 0; b < bins; b++) most = Math.max(most, (read?.[b] ?? 0) + (write?.[b] ?? 0) + (meta?.[b] ?? 0));
    return most * factor;
  }

  /** Per pixel the busiest step. */
  #columns(band: Band): { read: Float64Array; write: Float64Array; meta: Float64Array; peak: number } {
    const { end, bins } = this.page.report.timeline, x = this.x(), step = end / bins, wide = Math.max(0, Math.floor(this.width));
    const { read, write, meta, factor } = this.#values(band), out = { read: new Float64Array(wide), write: new Float64Array(wide), meta: new Float64Array(wide), peak: 0 };
    const [low, high] = x.domain, each = (high - low) / Math.max(1, this.width) / step;
    for (let px = 0; px < wide; px++) {
      const from = Math.floor(low / step + px * each), to = Math.max(from, Math.ceil(low / step + (px + 1) * each) - 1);
      let most = 0;
      for (let b = Math.max(0, from), last = Math.min(bins - 1, to); b <= last; b++) {
        const r = read ? read[b]! : 0, w = write ? write[b]! : 0, m = meta ? meta[b]! : 0;
        if (r + w + m > most) { most = r + w + m; out.read[px] = r * factor; out.write[px] = w * factor; out.meta[px] = m * factor; }
      }
      if (most * factor > out.peak) out.peak = most * factor;
    }
    return out;
  }

  #phases(): void {
    const c = this.context, t = this.page.theme, x = this.x(), phases = this.page.report.phases?.list ?? [];
    const chosen = this.page.store.now.phase, window = this.page.finding()?.window_seconds;
    c.textBaseline = "middle";
    const labels: { left: number; right: number }[] = [];
    // The longest first: where names would lie over each other, it keeps its own.
    const order = phases.map((_, at) => at).sort((a, b) => phases[b]!.end - phases[b]!.start - (phases[a]!.end - phases[a]!.start));
    for (const at of order) {
      const phase = phases[at]!, [a, b] = [Math.max(0, x.at(phase.start)), Math.min(this.width, x.at(phase.end))];
      if (b < 0 || a > this.width) continue;
      c.fillStyle = at === chosen ? t.accent : t.muted;
      c.globalAlpha = at === chosen ? 1 : 0.55;
      c.fillRect(a, PHASE_HEIGHT - 5, Math.max(2, b - a), 3);
      c.globalAlpha = 1;
      const text = rate(phase.bytes_read + phase.bytes_written, phase.end - phase.start);
      const wide = c.measureText(text).width, left = Math.min(a, this.width - wide), right = left + wide;
      if (labels.some((one) => left < one.right + 8 && right + 8 > one.left)) continue;
      labels.push({ left, right });
      c.fillStyle = t.muted; c.textAlign = "left"; c.fillText(text, left, 7);
    }
    if (window) {
      const [a, b] = [x.at(window[0]), x.at(window[1])];
      c.strokeStyle = t.accent; c.lineWidth = 1.5; c.strokeRect(a, headHeight(this.page), Math.max(2, b - a), this.height - headHeight(this.page)); c.lineWidth = 1;
    }
  }

  #phaseAt(time: number): number {
    const phases = this.page.report.phases?.list ?? [], near = (this.x().value(2) - this.x().value(0));
    return phases.findIndex((p) => time >= p.start - near && time <= p.end + near);
  }

  protected hint(px: number, py: number): Hint | null {
    const time = this.x().value(px), { end, bins } = this.page.report.timeline, step = end / bins;
    const at = Math.min(bins - 1, Math.max(0, Math.floor(time / step))), lines: [string, string][] = [];
    for (const band of this.#bands) {
      const opening = this.#opens.get(band.layer)?.[at] ?? 0;
      if (opening > 0) lines.push([`${band.layer} open, close`, `${percent(opening / step / this.page.report.job.nprocs)} of ranks`]);
    }
    for (const band of this.#bands) for (const way of ["read", "write"] as const) {
      const lane = band[way];
      const busy = lane ? this.page.columns.get(lane.busy)[at]! : 0, moved = lane ? this.page.columns.get(lane.bytes)[at]! : 0;
      const share = band.basis === "counted" ? "" : `${percent(busy / step / this.page.report.job.nprocs)} of ranks, `;
      if (busy > 0) lines.push([`${band.layer} ${way}`, `${share}${rate(moved, step)}`]);
    }
    const phase = this.#phaseAt(time), found = this.page.report.phases?.list[phase];
    if (found && py < this.height) lines.push(...phaseLines(phase, found));
    return { title: `${seconds(time)} after the start`, lines: lines.length > 0 ? lines : [["", "no I/O"]] };
  }

  protected override click(px: number): void {
    const at = this.#phaseAt(this.x().value(px)), phase = this.page.report.phases?.list[at];
    if (phase) choosePhase(this.page, at);
  }

  protected rows(): (string | number)[][] {
    const { end, bins } = this.page.report.timeline, lanes = this.page.report.timeline.lanes;
    const head = ["start_s", ...lanes.flatMap((l) => [`${l.layer}_${l.way}_busy_rank_s`, `${l.layer}_${l.way}_bytes`]), ...[...this.#opens.keys()].map((layer) => `${layer}_open_close_busy_rank_s`)];
    const columns = [...lanes.flatMap((l) => [this.page.columns.get(l.busy), this.page.columns.get(l.bytes)]), ...this.#opens.values()];
    return [head, ...Array.from({ length: bins }, (_, b) => [end / bins * b, ...columns.map((c) => c[b]!)])];
  }

  protected describe(): string {
    const phases = this.page.report.phases?.list.length;
    return `${this.#bands.map((b) => b.layer).join(", ") || "No I/O"} over ${seconds(this.page.end())}${phases ? `, in ${plural(phases, "phase")}` : ""}.`;
  }
}

/** Rank seconds that each layer's opens and closes take, step by step. */
function opens({ report: { timeline: { end, bins } }, opens: all }: Page): Map<string, Float64Array> {
  const found = new Map<string, Float64Array>(), step = end / bins;
  if (!(step > 0)) return found;
  for (let i = 0; i < all.count; i++) {
    const start = all.start[i]!, stop = start + all.length[i]!, layer = all.layer(i);
    let sums = found.get(layer);
    if (!sums) found.set(layer, sums = new Float64Array(bins));
    for (let b = Math.max(0, Math.floor(start / step)), last = Math.min(bins - 1, Math.floor(stop / step)); b <= last; b++) {
      sums[b]! += Math.max(0, Math.min(stop, (b + 1) * step) - Math.max(start, b * step));
    }
  }
  return found;
}

export function phaseLines(at: number, phase: Phase): [string, string][] {
  return [
    [`phase ${at + 1}`, `${seconds(phase.end - phase.start)}, ${plural(phase.calls, "call")} of ${plural(phase.ranks, "rank")}`],
    ["moved", `${bytes(phase.bytes_read)} read, ${bytes(phase.bytes_written)} written`],
    ["slowest", `rank ${phase.slowest[0]}, ${seconds(phase.slowest[1])} busy`],
    ["fastest", `rank ${phase.fastest[0]}, ${seconds(phase.fastest[1])} busy`],
  ];
}

/** Zooms to a phase, with a little room on both sides. */
export function choosePhase(page: Page, at: number): void {
  const phase = page.report.phases?.list[at];
  if (!phase) return;
  const room = Math.max((phase.end - phase.start) * 0.04, page.end() * 1e-6);
  page.store.choose({ phase: at, time: [Math.max(0, phase.start - room), Math.min(page.end(), phase.end + room)] });
}

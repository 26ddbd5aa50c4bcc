// The whole job over time: for each layer how many ranks were busy, reads over writes, with the
// phases above.

import type { Page } from "./page";
import type { Lane, Phase } from "./model";
import type { Scale } from "./scale";
import { type Hint, Plot } from "./plot";
import { linear } from "./scale";
import { bytes, count, percent, plural, rate, seconds } from "./format";

interface Band { layer: string; basis: string; read: Lane | null; write: Lane | null }

const PHASE_HEIGHT = 20, BAND_GAP = 8;

export class Timeline extends Plot {
  readonly #bands: Band[] = [];

  constructor(page: Page) {
    const bands = new Map<string, Band>();
    for (const lane of page.report.timeline.lanes) {
      const band = bands.get(lane.layer) ?? { layer: lane.layer, basis: lane.basis, read: null, write: null };
      band[lane.way] = lane;
      bands.set(lane.layer, band);
    }
    const high = bands.size <= 2 ? 46 : 36;
    super(page, { id: "timeline", title: "The whole job", height: Math.max(72, 34 + PHASE_HEIGHT + bands.size * (high + BAND_GAP)), brush: "time" });
    this.#bands.push(...bands.values());
    const spread = this.#bands.filter((band) => band.basis === "spread").map((band) => band.layer);
    this.note.textContent = spread.length > 0
      ? `share of ranks that were busy; ${spread.join(", ")}: no trace, seconds spread evenly from first to last call`
      : "share of ranks that were busy";
  }

  protected y(): Scale { return linear([0, 1], [this.height, 0]); }

  #top(at: number): { top: number; high: number } {
    const all = this.height - PHASE_HEIGHT, high = all / Math.max(1, this.#bands.length);
    return { top: PHASE_HEIGHT + at * high, high: high - BAND_GAP };
  }

  protected draw(): void {
    const c = this.context, t = this.page.theme;
    c.font = "11px system-ui, sans-serif";
    this.#bands.forEach((band, at) => {
      const { top, high } = this.#top(at);
      c.fillStyle = t.ink; c.textAlign = "right"; c.textBaseline = "middle";
      c.fillText(band.layer, -8, top + high / 2);
      const values = this.#columns(band);
      const most = Math.max(0, ...values.map((v) => v[0] + v[1]));
      values.forEach(([read, write], x) => {
        if (read + write <= 0) return;
        // A band fills its height at its own peak; the number at its right end says how much that is.
        const r = read / most * high, w = write / most * high;
        c.fillStyle = t.css(t.write); c.fillRect(x, top + high - Math.max(w, write > 0 ? 1 : 0), 1, Math.max(w, write > 0 ? 1 : 0));
        c.fillStyle = t.css(t.read); c.fillRect(x, top + high - w - Math.max(r, read > 0 ? 1 : 0), 1, Math.max(r, read > 0 ? 1 : 0));
      });
      c.strokeStyle = t.line; c.beginPath(); c.moveTo(0, top + high + 0.5); c.lineTo(this.width, top + high + 0.5); c.stroke();
      c.fillStyle = t.muted; c.textAlign = "right"; c.textBaseline = "top";
      if (most > 0) c.fillText(`peak ${this.#share(most)}`, this.width - 3, top - 1);
    });
    this.#phases();
    this.xAxis();
  }

  #share(value: number): string {
    const ranks = value * this.page.report.job.nprocs;
    return ranks < 1.5 ? `${ranks.toFixed(ranks < 0.095 ? 2 : 1)} ranks` : `${count(ranks)} of ${plural(this.page.report.job.nprocs, "rank")}`;
  }

  /** Per pixel the busiest step's share of ranks that read and wrote. */
  #columns(band: Band): [number, number][] {
    const { end, bins } = this.page.report.timeline, x = this.x();
    const step = end / bins, ranks = Math.max(1, this.page.report.job.nprocs);
    const read = band.read && this.page.columns.get(band.read.busy), write = band.write && this.page.columns.get(band.write.busy);
    const out: [number, number][] = [];
    for (let px = 0; px < this.width; px++) {
      const from = Math.floor(x.value(px) / step), to = Math.max(from, Math.ceil(x.value(px + 1) / step) - 1);
      let best: [number, number] = [0, 0];
      for (let b = Math.max(0, from); b <= Math.min(bins - 1, to); b++) {
        const now: [number, number] = [(read?.[b] ?? 0) / step / ranks, (write?.[b] ?? 0) / step / ranks];
        if (now[0] + now[1] > best[0] + best[1]) best = now;
      }
      out.push(best);
    }
    return out;
  }

  #phases(): void {
    const c = this.context, t = this.page.theme, x = this.x(), phases = this.page.report.phases?.list ?? [];
    const chosen = this.page.store.now.phase, window = this.page.finding()?.window;
    c.textBaseline = "middle";
    let free = -Infinity;
    phases.forEach((phase, at) => {
      const [a, b] = [Math.max(0, x.at(phase.start)), Math.min(this.width, x.at(phase.end))];
      if (b < 0 || a > this.width) return;
      c.fillStyle = at === chosen ? t.accent : t.muted;
      c.globalAlpha = at === chosen ? 1 : 0.55;
      c.fillRect(a, PHASE_HEIGHT - 5, Math.max(2, b - a), 3);
      c.globalAlpha = 1;
      const text = rate(phase.bytes_read + phase.bytes_written, phase.end - phase.start);
      const wide = c.measureText(text).width, left = Math.min(Math.max(a, 0), this.width - wide);
      if (left > free + 8) { c.fillStyle = t.muted; c.textAlign = "left"; c.fillText(text, left, 7); free = left + wide; }
    });
    if (window) {
      const [a, b] = [x.at(window[0]), x.at(window[1])];
      c.strokeStyle = t.accent; c.lineWidth = 1.5; c.strokeRect(a, PHASE_HEIGHT, Math.max(2, b - a), this.height - PHASE_HEIGHT); c.lineWidth = 1;
    }
  }

  #phaseAt(time: number): number {
    const phases = this.page.report.phases?.list ?? [], near = (this.x().value(2) - this.x().value(0));
    return phases.findIndex((p) => time >= p.start - near && time <= p.end + near);
  }

  protected hint(px: number, py: number): Hint | null {
    const time = this.x().value(px), { end, bins } = this.page.report.timeline, step = end / bins;
    const at = Math.min(bins - 1, Math.max(0, Math.floor(time / step))), lines: [string, string][] = [];
    for (const band of this.#bands) for (const way of ["read", "write"] as const) {
      const lane = band[way];
      const busy = lane ? this.page.columns.get(lane.busy)[at]! : 0, moved = lane ? this.page.columns.get(lane.bytes)[at]! : 0;
      if (busy > 0) lines.push([`${band.layer} ${way}`, `${percent(busy / step / this.page.report.job.nprocs)} of ranks, ${rate(moved, step)}`]);
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
    const head = ["start_s", ...lanes.flatMap((l) => [`${l.layer}_${l.way}_busy_rank_s`, `${l.layer}_${l.way}_bytes`])];
    const columns = lanes.flatMap((l) => [this.page.columns.get(l.busy), this.page.columns.get(l.bytes)]);
    return [head, ...Array.from({ length: bins }, (_, b) => [end / bins * b, ...columns.map((c) => c[b]!)])];
  }

  protected describe(): string {
    const phases = this.page.report.phases?.list.length;
    return `${this.#bands.map((b) => b.layer).join(", ") || "No I/O"} over ${seconds(this.page.end())}${phases ? `, in ${plural(phases, "phase")}` : ""}.`;
  }
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

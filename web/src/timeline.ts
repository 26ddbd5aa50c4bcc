// The whole job over time: for each layer how many ranks were busy, reads over writes, with the
// phases above.

import type { Page } from "./page";
import type { Lane, Phase } from "./model";
import type { Scale } from "./scale";
import { type Hint, Plot } from "./plot";
import { linear } from "./scale";
import { bytes, percent, plural, rate, seconds } from "./format";

interface Band { layer: string; basis: string; read: Lane | null; write: Lane | null }

const PHASE_HEIGHT = 20, BAND_GAP = 8;

export class Timeline extends Plot {
  readonly #bands: Band[] = [];
  /** Pixels above the bands for the phases. */
  readonly #head: number;

  constructor(page: Page) {
    const bands = new Map<string, Band>();
    for (const lane of page.report.timeline.lanes) {
      const band = bands.get(lane.layer) ?? { layer: lane.layer, basis: lane.basis, read: null, write: null };
      band[lane.way] = lane;
      bands.set(lane.layer, band);
    }
    const high = bands.size <= 2 ? 46 : 36;
    const top = page.report.phases ? PHASE_HEIGHT : 0;
    super(page, { id: "timeline", title: "The whole job", height: Math.max(72, 34 + top + bands.size * (high + BAND_GAP)), brush: "time" });
    this.#head = top;
    this.#bands.push(...bands.values());
    const spread = this.#bands.filter((band) => band.basis === "spread").map((band) => band.layer), meta = page.report.verdict.parts[2];
    const parts = ["share of ranks that were busy"];
    if (spread.length > 0) parts.push(`${spread.join(", ")}: no trace, seconds spread evenly from first to last call`);
    if (meta > 0.05 * page.report.verdict.seconds) parts.push(`${seconds(meta)} in metadata calls have no times and are not drawn`);
    this.note.textContent = parts.join("; ");
  }

  protected y(): Scale { return linear([0, 1], [this.height, 0]); }

  #top(at: number): { top: number; high: number } {
    const all = this.height - this.#head, high = all / Math.max(1, this.#bands.length);
    return { top: this.#head + at * high, high: high - BAND_GAP };
  }

  protected draw(): void {
    const c = this.context, t = this.page.theme;
    c.font = "11px system-ui, sans-serif";
    const all = this.#bands.map((band) => this.#columns(band));
    const peaks = all.map((values) => values.reduce((most, v) => Math.max(most, v[0] + v[1]), 0));
    // A band fills its height at its own peak, unless that is next to nothing beside the others.
    const floor = Math.max(...peaks, 0) / 20;
    this.#bands.forEach((band, at) => {
      const { top, high } = this.#top(at), values = all[at]!, peak = peaks[at]!, most = Math.max(peak, floor);
      c.fillStyle = t.ink; c.textAlign = "right"; c.textBaseline = "middle";
      c.fillText(band.layer, -8, top + high / 2 - 6);
      c.fillStyle = t.muted;
      if (peak > 0) c.fillText(`peak ${this.#share(peak)}`, -8, top + high / 2 + 8);
      values.forEach(([read, write], x) => {
        if (read + write <= 0) return;
        const r = read / most * high, w = write / most * high;
        c.fillStyle = t.css(t.write); c.fillRect(x, top + high - Math.max(w, write > 0 ? 1 : 0), 1, Math.max(w, write > 0 ? 1 : 0));
        c.fillStyle = t.css(t.read); c.fillRect(x, top + high - w - Math.max(r, read > 0 ? 1 : 0), 1, Math.max(r, read > 0 ? 1 : 0));
      });
      c.strokeStyle = t.line; c.beginPath(); c.moveTo(0, top + high + 0.5); c.lineTo(this.width, top + high + 0.5); c.stroke();
    });
    this.#phases();
    this.xAxis();
  }

  /** A share of ranks that were busy; of few ranks their number. */
  #share(value: number): string {
    const ranks = this.page.report.job.nprocs;
    return ranks > 8 ? percent(Math.min(1, value)).replace("below ", "<") : (Math.min(1, value) * ranks).toFixed(1);
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
      c.strokeStyle = t.accent; c.lineWidth = 1.5; c.strokeRect(a, this.#head, Math.max(2, b - a), this.height - this.#head); c.lineWidth = 1;
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

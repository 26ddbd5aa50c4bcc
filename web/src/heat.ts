// Ranks over time. A pixel is the busiest rank and step below it, never their mean, so that one
// busy rank among 100,000 does not fade away.

import type { Page } from "./page";
import type { Grid } from "./model";
import type { Scale } from "./scale";
import { type Hint, MARGIN, Plot } from "./plot";
import { linear } from "./scale";
import { h, renew } from "./element";
import { bytes, count, percent, plural, seconds } from "./format";
import { type Rgb, mix, pixel } from "./theme";

/** What a rank's colour stands for. Bytes and calls are known where single calls are. */
type Measure = "time" | "bytes" | "calls";

export class Heat extends Plot {
  readonly #choice: HTMLElement;
  readonly #measures: HTMLElement;
  #measure: Measure = "time";
  #kept: readonly [Float32Array, Float32Array] = [new Float32Array(0), new Float32Array(0)];

  constructor(page: Page) {
    super(page, { id: page.id("heat"), title: "Ranks over time", height: rankHeight(page, 270), brush: "ranks" });
    this.#choice = h("span", { class: "choice", role: "group", "aria-label": "layer" });
    this.#measures = h("span", { class: "choice", role: "group", "aria-label": "what of a rank" });
    this.caption.after(this.#choice, this.#measures);
  }

  /** What is drawn: time, unless single calls can tell more and it was asked for. */
  #shown(grid: Grid): Measure { return this.#counts(grid) ? this.#measure : "time"; }

  #counts(grid: Grid): boolean { return grid.basis === "traced" && this.page.marks.count > 0 && this.page.report.marks.ranks_per_mark === 1; }

  /** The layer that was chosen, else the one in which ranks spent most time. */
  #grid(): Grid | null {
    const grids = this.page.report.grids, chosen = this.page.store.now.layer;
    const spent = (grid: Grid) => this.page.report.layers.find((l) => l.name === grid.layer)?.seconds.reduce((a, b) => a + b) ?? 0;
    return grids.find((grid) => grid.layer === chosen) ?? [...grids].sort((a, b) => spent(b) - spent(a))[0] ?? null;
  }

  protected y(): Scale {
    const [a, b] = this.page.ranks();
    return linear([a, b + 1], [this.height, 0]);
  }

  protected draw(): void {
    const grid = this.#grid();
    if (!this.page.store.moving) this.#buttons(grid);
    if (grid) {
      const measure = this.#shown(grid), levels = measure === "time" ? this.#fromCalls(grid) ?? this.#fromGrid(grid) : this.#amounts(grid, measure);
      this.#paint(levels.read, levels.write, levels.wide, levels.high);
    }
    this.axes("rank", "rank");
    if (!grid) this.#nothing();
  }

  #nothing(): void {
    const c = this.context;
    c.textAlign = "center"; c.textBaseline = "middle"; c.fillStyle = this.page.theme.muted;
    c.fillText("The source holds no times of single ranks: records were summed over all of them.", this.width / 2, this.height / 2);
  }

  #buttons(now: Grid | null): void {
    const grids = this.page.report.grids;
    renew(this.#choice, ...(grids.length < 2 ? [] : grids.map((grid) =>
      h("button", { type: "button", "aria-pressed": String(grid === now), click: () => this.page.store.choose({ layer: grid.layer }) }, grid.layer))));
    const measures: Measure[] = now && this.#counts(now) ? ["time", "bytes", "calls"] : [];
    renew(this.#measures, ...measures.map((measure) =>
      h("button", { type: "button", "aria-pressed": String(measure === this.#measure), click: () => { this.#measure = measure; this.schedule(); } }, measure)));
    if (!now) return;
    const basis = { traced: "share of time in calls", spread: "no trace: seconds spread evenly from first to last call", counted: "no trace: bytes counted over time, as a share of the most that a rank moved" };
    const parts = [
      this.#shown(now) === "time" ? basis[now.basis] : `${this.#measure} of a pixel's time, as a share of the most`,
      now.ranks_per_row > 1 ? `the busiest of ${count(now.ranks_per_row)} ranks per row` : "",
      now.summed > 0 ? `${plural(now.summed, "record")} summed over ranks not shown` : "",
    ];
    this.note.textContent = parts.filter(Boolean).join("; ");
  }

  /** Device pixels of the inner area. */
  #area(): { wide: number; high: number } {
    const ratio = devicePixelRatio || 1;
    return { wide: Math.max(1, Math.round(this.width * ratio)), high: Math.max(1, Math.round(this.height * ratio)) };
  }

  /** The end of this run's own steps; the axis may be longer. */
  #end(): number { return this.page.report.timeline.end || 1; }

  #fromGrid(grid: Grid): Levels {
    const { wide, high } = this.#area(), [t0, t1] = this.page.time(), [r0, r1] = this.page.ranks();
    const step = this.#end() / grid.bins;
    const read = this.page.columns.get(grid.read), write = this.page.columns.get(grid.write);
    const out: Levels = { wide, high, read: new Uint8Array(wide * high), write: new Uint8Array(wide * high) };
    const across = blocks(wide, t0 / step, t1 / step, grid.bins);
    const down = blocks(high, r0 / grid.ranks_per_row, (r1 + 1) / grid.ranks_per_row, grid.rows);
    for (let py = 0; py < high; py++) {
      const [row0, row1] = [down[2 * (high - 1 - py)]!, down[2 * (high - 1 - py) + 1]!];
      for (let px = 0; px < wide; px++) {
        let r = 0, w = 0;
        for (let row = row0; row <= row1; row++) for (let bin = across[2 * px]!; bin <= across[2 * px + 1]!; bin++) {
          const cell = row * grid.bins + bin;
          if (read[cell]! > r) r = read[cell]!;
          if (write[cell]! > w) w = write[cell]!;
        }
        out.read[py * wide + px] = r; out.write[py * wide + px] = w;
      }
    }
    return out;
  }

  /** When zoomed in so far that a step of the grid is wider than two pixels, the calls themselves. */
  #fromCalls(grid: Grid): Levels | null {
    const { marks, shade } = this.page, [t0, t1] = this.page.time(), [r0, r1] = this.page.ranks();
    const { wide, high } = this.#area(), ranks = r1 - r0 + 1;
    const coarse = this.#end() / grid.bins * wide / (t1 - t0) > 2;
    const filtered = this.page.store.now.file !== null;
    if (grid.basis !== "traced" || !(coarse || filtered) || !marks.exact || ranks * wide > 2e6) return null;
    const [reads, writes] = this.#sums(ranks * wide), layer = marks.layers.indexOf(grid.layer);
    const perPixel = (t1 - t0) / wide, [begin, end] = marks.between(t0, t1);
    for (let i = begin; i < end; i++) {
      const rank = marks.rank[i]! - r0, kind = marks.kind[i]!;
      if (shade[i] === 0 || rank < 0 || rank >= ranks || marks.end[i]! < t0 || kind >> 1 !== layer) continue;
      const sum = (kind & 1) !== 0 ? writes : reads, from = (marks.start[i]! - t0) / perPixel, to = (marks.end[i]! - t0) / perPixel;
      const last = Math.min(wide - 1, Math.floor(to));
      for (let px = Math.max(0, Math.floor(from)); px <= last; px++) {
        // A call shorter than a pixel still leaves a trace of one level.
        sum[rank * wide + px]! += Math.max(1 / 255, Math.min(px + 1, to) - Math.max(px, from));
      }
    }
    return this.#gather(reads, writes, ranks, wide, wide, high);
  }

  /** Bytes or calls of each rank over time, against the most in sight. Of very many ranks the steps are wider. */
  #amounts(grid: Grid, measure: Measure): Levels {
    const { marks, shade } = this.page, [t0, t1] = this.page.time(), [r0, r1] = this.page.ranks();
    const { wide, high } = this.#area(), ranks = r1 - r0 + 1, steps = Math.min(wide, Math.max(64, Math.floor(2e6 / ranks)));
    const [reads, writes] = this.#sums(ranks * steps), layer = marks.layers.indexOf(grid.layer), scale = steps / (t1 - t0), [begin, end] = marks.between(t0, t1);
    let most = 0;
    for (let i = begin; i < end; i++) {
      const rank = marks.rank[i]! - r0, kind = marks.kind[i]!, at = Math.floor((marks.start[i]! - t0) * scale);
      if (shade[i] === 0 || rank < 0 || rank >= ranks || kind >> 1 !== layer || at < 0 || at >= steps) continue;
      const sum = (kind & 1) !== 0 ? writes : reads, cell = rank * steps + at;
      sum[cell]! += measure === "bytes" ? marks.bytes[i]! : marks.each[i]!;
      if (sum[cell]! > most) most = sum[cell]!;
    }
    for (const sum of [reads, writes]) for (let cell = 0; cell < ranks * steps; cell++) sum[cell]! /= most || 1;
    return this.#gather(reads, writes, ranks, steps, wide, high);
  }

  /** Two rows of zeros, used again from frame to frame. */
  #sums(length: number): readonly [Float32Array, Float32Array] {
    if (this.#kept[0].length < length) this.#kept = [new Float32Array(length), new Float32Array(length)];
    for (const sum of this.#kept) sum.fill(0, 0, length);
    return this.#kept;
  }

  /** A pixel is the busiest of the ranks below it. */
  #gather(reads: Float32Array, writes: Float32Array, ranks: number, steps: number, wide: number, high: number): Levels {
    const out: Levels = { wide, high, read: new Uint8Array(wide * high), write: new Uint8Array(wide * high) };
    const down = blocks(high, 0, ranks, ranks);
    const across = Int32Array.from({ length: wide }, (_, px) => Math.floor(px * steps / wide));
    for (let py = 0; py < high; py++) {
      const first = down[2 * (high - 1 - py)]!, last = down[2 * (high - 1 - py) + 1]!;
      for (let px = 0; px < wide; px++) {
        let r = 0, w = 0;
        for (let at = first * steps + across[px]!; at <= last * steps + across[px]!; at += steps) {
          if (reads[at]! > r) r = reads[at]!;
          if (writes[at]! > w) w = writes[at]!;
        }
        out.read[py * wide + px] = Math.min(255, Math.ceil(r * 255)); out.write[py * wide + px] = Math.min(255, Math.ceil(w * 255));
      }
    }
    return out;
  }

  #paint(read: Uint8Array, write: Uint8Array, wide: number, high: number): void {
    const t = this.page.theme, way = this.page.store.now.way;
    const shades = (colour: Rgb) => Uint32Array.from({ length: 256 }, (_, v) => pixel(mix(t.paper, colour, v === 0 ? 0 : 0.22 + 0.78 * (v / 255) ** 0.7)));
    const faded = Uint32Array.from({ length: 256 }, (_, v) => pixel(mix(t.paper, t.faded, v === 0 ? 0 : 0.3 + 0.5 * v / 255)));
    const [blue, orange] = [shades(t.read), shades(t.write)];
    const image = this.context.createImageData(wide, high), out = new Uint32Array(image.data.buffer);
    const lit = this.#lit(high);
    for (let py = 0; py < high; py++) for (let px = 0; px < wide; px++) {
      const at = py * wide + px;
      const r = way === "write" ? 0 : read[at]!, w = way === "read" ? 0 : write[at]!;
      out[at] = lit && !lit[py] ? faded[Math.max(r, w)]! : r > w ? blue[r]! : orange[w]!;
    }
    this.picture(image);
  }

  /** Rows of pixels that hold a rank of the chosen finding; null where none is chosen. */
  #lit(high: number): Uint8Array | null {
    const ranks = this.page.finding()?.ranks ?? [], lit = new Uint8Array(high);
    if (ranks.length === 0) return null;
    const y = this.y(), scale = high / this.height;
    for (const rank of ranks) {
      const [a, b] = [y.at(rank + 1) * scale, y.at(rank) * scale];
      for (let py = Math.max(0, Math.floor(a)); py <= Math.min(high - 1, Math.max(Math.floor(a), Math.ceil(b) - 1)); py++) lit[py] = 1;
    }
    return lit;
  }

  protected hint(px: number, py: number): Hint | null {
    const grid = this.#grid();
    if (!grid) return null;
    const step = this.#end() / grid.bins, time = this.x().value(px);
    // Of the rows and steps below the pointer, the brightest: it is the one that is seen.
    const under = (from: number, to: number, most: number) => [Math.max(0, Math.min(most - 1, Math.floor(from))), Math.max(0, Math.min(most - 1, Math.ceil(to) - 1))] as const;
    const [b0, b1] = under(this.x().value(px - 0.5) / step, this.x().value(px + 0.5) / step, grid.bins);
    const [row0, row1] = under(this.y().value(py + 0.5) / grid.ranks_per_row, this.y().value(py - 0.5) / grid.ranks_per_row, grid.rows);
    const read = this.page.columns.get(grid.read), write = this.page.columns.get(grid.write);
    let cell = row0 * grid.bins + b0, best = -1;
    for (let row = row0; row <= Math.max(row0, row1); row++) for (let bin = b0; bin <= Math.max(b0, b1); bin++) {
      const at = row * grid.bins + bin, level = Math.max(read[at]!, write[at]!);
      if (level > best) { best = level; cell = at; }
    }
    const row = Math.floor(cell / grid.bins), first = row * grid.ranks_per_row;
    const busiest = first + this.page.columns.get(grid.busiest)[cell]!;
    const lines: [string, string][] = [["time", seconds(time)]];
    const share = grid.basis === "counted" ? "of the most" : "of the time";
    if (read[cell]! > 0) lines.push(["reading", `${percent(read[cell]! / 255)} ${share}`]);
    if (write[cell]! > 0) lines.push(["writing", `${percent(write[cell]! / 255)} ${share}`]);
    const moved = this.page.columns.get(grid.bytes)[cell]!;
    if (moved > 0) lines.push(["bytes", `${bytes(moved)} in ${seconds(step)}`]);
    if (best <= 0) lines.push(["", "no I/O"]);
    if (grid.ranks_per_row > 1) lines.push(["row", `ranks ${count(first)} to ${count(Math.min(this.page.rankCount(), first + grid.ranks_per_row) - 1)}`]);
    return { title: `${grid.layer}, rank ${count(best > 0 ? busiest : Math.floor(this.y().value(py)))}`, lines };
  }

  protected rows(): (string | number)[][] {
    const grid = this.#grid();
    if (!grid) return [];
    const columns = [grid.read, grid.write, grid.busiest, grid.bytes].map((name) => this.page.columns.get(name));
    const rows: (string | number)[][] = [["first_rank", "start_s", "read_share", "write_share", "busiest_rank", "bytes"]];
    for (let cell = 0; cell < grid.rows * grid.bins; cell++) {
      const [r, w, who, moved] = columns.map((c) => c[cell]!) as [number, number, number, number];
      const first = Math.floor(cell / grid.bins) * grid.ranks_per_row;
      if (r + w > 0) rows.push([first, cell % grid.bins * this.#end() / grid.bins, r / 255, w / 255, first + who, moved]);
    }
    return rows;
  }

  protected describe(): string {
    const grid = this.#grid();
    return grid ? `${grid.layer}, ${plural(this.page.rankCount(), "rank")}.` : "No times of single ranks.";
  }
}

/** Few ranks need little room: a row is never higher than a line of text or two. */
export function rankHeight(page: Page, most: number): number {
  return Math.min(most, MARGIN.top + MARGIN.bottom + Math.max(2, page.rankCount()) * 24);
}

interface Levels { read: Uint8Array; write: Uint8Array; wide: number; high: number }

/** For each pixel the first and last cell below it; a pixel within a cell has just that one, and one
 *  behind the last cell has none: its last is before its first. */
export function blocks(pixels: number, from: number, to: number, cells: number): Int32Array {
  const out = new Int32Array(pixels * 2), per = (to - from) / pixels;
  for (let p = 0; p < pixels; p++) {
    const a = Math.floor(from + p * per + 1e-9), b = Math.ceil(from + (p + 1) * per - 1e-9) - 1;
    if (a >= cells) { out[2 * p + 1] = -1; continue; }
    out[2 * p] = Math.max(0, a);
    out[2 * p + 1] = Math.min(cells - 1, Math.max(out[2 * p]!, b));
  }
  return out;
}

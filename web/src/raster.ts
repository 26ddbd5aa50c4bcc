// Traced calls as bars: over time by rank, by offset or by duration, and by offset over ranks.
// They are drawn into pixels by hand, because a quarter of a million shapes a frame is more than
// a canvas draws; beside each pixel stands which call it is, for the pointer.

import type { Page } from "./page";
import type { Scale } from "./scale";
import { type Hint, MARGIN, Plot, type Options } from "./plot";
import { linear, log, niceTicks } from "./scale";
import { bytes, count, plural, seconds, shortPath } from "./format";
import { HIDDEN, FADED, SHOWN } from "./marks";
import { type Rgb, along, mix, pixel } from "./theme";

export type Kind = "ranks" | "offsets" | "durations" | "places";

const SIZES = [100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 2 ** 30];

export class Raster extends Plot {
  readonly #kind: Kind;
  readonly #layer: string | null;
  #pick: Int32Array = new Int32Array(0);
  #wide = 0;

  constructor(page: Page, kind: Kind, layer: string | null, options: Options) {
    super(page, options);
    this.#kind = kind;
    this.#layer = layer;
  }

  protected override isTime(): boolean { return this.#kind !== "places"; }

  #shown(i: number): boolean { return this.page.shade[i] !== HIDDEN && (this.#layer === null || this.page.marks.layer(i) === this.#layer); }

  /** The bytes that are drawn: what was chosen, else all that is touched. */
  #offsets(): readonly [number, number] {
    const chosen = this.page.store.now.offset;
    if (chosen) return chosen;
    let most = 1;
    for (let i = 0; i < this.page.marks.count; i++) if (this.#shown(i)) most = Math.max(most, this.page.marks.stop[i]!);
    return [0, most];
  }

  protected override x(): Scale {
    if (this.#kind !== "places") return super.x();
    const [low, high] = this.#offsets();
    return { ...linear([low, high], [0, this.width]), ticks: (most) => niceTicks(low, high, most, 1024) };
  }

  protected override xText(value: number, step: number): string {
    return this.#kind === "places" ? bytes(value) : super.xText(value, step);
  }

  protected y(): Scale {
    if (this.#kind === "offsets") return linear(this.#offsets(), [this.height, 0]);
    if (this.#kind === "durations") return log(this.#durations(), [this.height, 0]);
    const [a, b] = this.page.ranks();
    return linear([a, b + 1], [this.height, 0]);
  }

  #durations(): readonly [number, number] {
    let low = Infinity, high = 0;
    const { marks } = this.page;
    for (let i = 0; i < marks.count; i++) {
      const long = marks.longest[i]!;
      if (long > 0) { low = Math.min(low, long); high = Math.max(high, long); }
    }
    return high > 0 ? [10 ** Math.floor(Math.log10(Math.max(low, 1e-9))), 10 ** Math.ceil(Math.log10(high) + 1e-9)] : [1e-6, 1];
  }

  protected override moveX(range: readonly [number, number]): void {
    if (this.#kind === "places") this.page.store.drift({ offset: [Math.max(0, range[0]), range[1]] });
    else super.moveX(range);
  }

  protected override chosen(across: readonly [number, number] | null, up: readonly [number, number] | null): void {
    if (this.#kind !== "places") { super.chosen(across, up); return; }
    if (across) this.page.store.choose({ offset: [Math.max(0, across[0]), across[1]] });
    if (up) this.page.brush("ranks", null, up);
  }

  protected draw(): void {
    this.note.textContent = this.#notes();
    const ratio = devicePixelRatio || 1, { marks, shade } = this.page, now = this.page.store.now;
    const wide = Math.max(1, Math.round(this.width * ratio)), high = Math.max(1, Math.round(this.height * ratio));
    this.#wide = wide;
    if (this.#pick.length !== wide * high) this.#pick = new Int32Array(wide * high);
    this.#pick.fill(-1);
    const image = this.context.createImageData(wide, high), out = new Uint32Array(image.data.buffer);
    out.fill(pixel(this.page.theme.paper));
    const x = this.x(), y = this.y(), colours = this.#colours();
    const thick = this.#kind === "durations" ? Math.round(2 * ratio) : 1;
    // What is faded lies below what is meant.
    for (const pass of [FADED, SHOWN]) for (let i = 0; i < marks.count; i++) {
      if (shade[i] !== pass || !this.#shown(i)) continue;
      if (this.#kind === "places" ? !marks.within(i, now) : marks.end[i]! < x.domain[0] || marks.start[i]! > x.domain[1]) continue;
      const [a, b] = this.#kind === "places" ? [marks.offset[i]!, marks.stop[i]!] : [marks.start[i]!, marks.end[i]!];
      const x0 = Math.max(0, Math.floor(x.at(a) * ratio)), x1 = Math.min(wide - 1, Math.max(x0, Math.ceil(x.at(b) * ratio) - 1));
      const [y0, y1] = this.#rows(i, y, ratio, high, thick);
      const colour = pass === FADED ? colours.faded : colours.of(i);
      for (let py = y0; py <= y1; py++) for (let px = x0; px <= x1; px++) { out[py * wide + px] = colour; this.#pick[py * wide + px] = i; }
    }
    this.context.putImageData(image, Math.round(MARGIN.left * ratio), Math.round(MARGIN.top * ratio));
    const unit = this.#kind === "offsets" ? "bytes" : this.#kind === "durations" ? "seconds" : "rank";
    this.axes(unit, this.#kind === "offsets" ? "offset" : this.#kind === "durations" ? "duration" : this.#layer ? `${this.#layer} rank` : "rank");
  }

  /** First and last row of pixels of a call; outside the picture the last is before the first. */
  #rows(i: number, y: Scale, ratio: number, high: number, thick: number): [number, number] {
    const { marks } = this.page;
    let top: number, bottom: number;
    if (this.#kind === "offsets") [top, bottom] = [y.at(marks.stop[i]!), y.at(marks.offset[i]!)];
    else if (this.#kind === "durations") { const at = y.at(Math.max(marks.longest[i]!, 1e-9)); [top, bottom] = [at, at]; }
    else {
      const rank = marks.rank[i]!, last = rank + this.page.report.marks.ranks_per_mark;
      // A hair of space between ranks while there is room for it.
      const gap = this.height / (y.domain[1] - y.domain[0]) > 5 ? 1 : 0;
      [top, bottom] = [y.at(last) + gap, y.at(rank)];
    }
    const y0 = Math.floor(top * ratio), y1 = Math.max(y0 + thick - 1, Math.ceil(bottom * ratio) - 1);
    return y1 < 0 || y0 >= high ? [0, -1] : [Math.max(0, y0), Math.min(high - 1, y1)];
  }

  #colours(): { faded: number; of: (i: number) => number } {
    const { marks, theme: t } = this.page, by = this.page.store.now.colour;
    const faded = pixel(mix(t.paper, t.faded, 0.55));
    const read = pixel(t.read), write = pixel(t.write);
    if (by === "way") return { faded, of: (i) => marks.isWrite(i) ? write : read };
    const shades = Uint32Array.from({ length: 10 }, (_, at) => pixel(along(t.ramp, at / 9)));
    if (by === "size") return { faded, of: (i) => shades[sizeBin(marks.bytes[i]! / marks.each[i]!)]! };
    const ranks = Math.max(1, this.page.rankCount() - 1);
    const many = Uint32Array.from({ length: 256 }, (_, at) => pixel(along(t.ramp, at / 255)));
    return { faded, of: (i) => many[Math.round(marks.rank[i]! / ranks * 255)]! };
  }

  #notes(): string {
    const { marks, report } = this.page, now = this.page.store.now;
    const parts = [];
    if (this.#kind === "offsets" || this.#kind === "places") {
      const file = now.file === null ? null : report.files[now.file];
      parts.push(file ? shortPath(file.path) : report.files.length > 1 ? "all files over each other; choose one in the table of files" : "");
    }
    if (this.#kind === "durations") parts.push(marks.exact ? "each call" : "the longest call of each group");
    if (!marks.exact) parts.push(`${count(marks.calls)} calls in ${count(marks.count)} groups of at most ${seconds(report.marks.slice)}`);
    return parts.filter(Boolean).join("; ");
  }

  #at(px: number, py: number): number {
    const ratio = devicePixelRatio || 1;
    // The pointer is wider than a pixel: look around it, nearest first.
    for (let far = 0; far <= 3; far++) for (let dy = -far; dy <= far; dy++) for (let dx = -far; dx <= far; dx++) {
      if (Math.max(Math.abs(dx), Math.abs(dy)) !== far) continue;
      const x = Math.floor(px * ratio) + dx, y = Math.floor(py * ratio) + dy;
      const found = x >= 0 && x < this.#wide && y >= 0 ? this.#pick[y * this.#wide + x] ?? -1 : -1;
      if (found >= 0) return found;
    }
    return -1;
  }

  protected hint(px: number, py: number): Hint | null {
    const i = this.#at(px, py), { marks, report } = this.page;
    if (i < 0) return null;
    const n = marks.each[i]!, file = report.files[marks.file[i]!];
    const lines: [string, string][] = [
      ["rank", report.marks.ranks_per_mark > 1 ? `${count(marks.rank[i]!)} and ${count(report.marks.ranks_per_mark - 1)} after it` : count(marks.rank[i]!)],
      ["file", file ? shortPath(file.path, 60) : "one of those that are not listed"],
      ["start", seconds(marks.start[i]!)],
      [n > 1 ? "longest" : "duration", seconds(marks.longest[i]!)],
      ["offset", bytes(marks.offset[i]!)],
      ["bytes", `${bytes(marks.bytes[i]!)}${n > 1 ? "" : ` (${count(marks.bytes[i]!)})`}`],
    ];
    const what = `${marks.layer(i)} ${marks.isWrite(i) ? "write" : "read"}`;
    return { title: n > 1 ? `${what}, ${plural(n, "call")}` : what, lines };
  }

  protected override click(px: number, py: number): void {
    const i = this.#at(px, py);
    if (i >= 0 && this.page.marks.file[i]! < this.page.report.files.length) this.page.store.choose({ file: this.page.marks.file[i]! });
  }

  protected rows(): (string | number)[][] {
    const { marks, report } = this.page, now = this.page.store.now;
    const rows: (string | number)[][] = [["layer", "operation", "rank", "file", "start_s", "end_s", "offset", "bytes", "calls", "busy_s", "longest_s"]];
    for (let i = 0; i < marks.count; i++) if (this.#shown(i) && marks.within(i, now)) {
      rows.push([marks.layer(i), marks.isWrite(i) ? "write" : "read", marks.rank[i]!, report.files[marks.file[i]!]?.path ?? "", marks.start[i]!, marks.end[i]!, marks.offset[i]!, marks.bytes[i]!, marks.each[i]!, marks.busy[i]!, marks.longest[i]!]);
    }
    return rows;
  }

  protected describe(): string {
    const { marks } = this.page, now = this.page.store.now;
    let shown = 0;
    for (let i = 0; i < marks.count; i++) if (this.#shown(i) && marks.within(i, now)) shown += marks.each[i]!;
    return `${plural(shown, "call")} shown.`;
  }
}

/** Which of ten bins a size falls into; a size equal to a bound is inside. */
export function sizeBin(size: number): number {
  const at = SIZES.findIndex((bound) => size <= bound);
  return at < 0 ? SIZES.length : at;
}

/** The colours in words, for the legend. */
export function legend(page: Page): { text: string; colour: Rgb }[] {
  const t = page.theme, by = page.store.now.colour;
  if (by === "way") return [{ text: "read", colour: t.read }, { text: "write", colour: t.write }];
  const ends = by === "size" ? ["≤ 100 B", "> 1 GiB"] : ["rank 0", `rank ${count(page.rankCount() - 1)}`];
  return [{ text: ends[0]!, colour: t.ramp[0]! }, { text: "", colour: t.ramp[2]! }, { text: "", colour: t.ramp[4]! }, { text: ends[1]!, colour: t.ramp[5]! }];
}

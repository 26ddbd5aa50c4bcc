// Traced calls as bars: over time by rank, by offset or by duration, and by offset over ranks.
// They are drawn into pixels by hand, because a quarter of a million shapes a frame is more than
// a canvas draws. Calls of a rank go into one line of pixels, which is then made as high as the
// rank is drawn: a frame costs as much as there are calls in sight, not as there are pixels.

import type { Page } from "./page";
import type { Scale } from "./scale";
import { type Hint, Plot, type Options } from "./plot";
import { linear, log, niceTicks } from "./scale";
import { bytes, count, plural, seconds, shortPath } from "./format";
import { FADED, HIDDEN, SHOWN } from "./marks";
import { type Image, sized } from "./paint";
import { type Rgb, type Theme, along, mix, pixel } from "./theme";

export type Kind = "ranks" | "offsets" | "durations" | "places";

const SIZES = [100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 2 ** 30];

export class Raster extends Plot {
  readonly #kind: Kind;
  readonly #layer: string | null;
  #image: Image | null = null;
  #lines: Image | null = null;
  #colours: { key: unknown[]; of: Uint32Array; faded: number } | null = null;
  #longest: readonly [number, number] | null = null;

  constructor(page: Page, kind: Kind, layer: string | null, options: Options) {
    super(page, options);
    this.#kind = kind;
    this.#layer = layer;
    page.onFeed(() => { this.#longest = null; });
  }

  protected override isTime(): boolean { return this.#kind !== "places"; }

  #shown(i: number): boolean { return this.page.shade[i] !== HIDDEN && (this.#layer === null || this.page.marks.layer(i) === this.#layer); }

  /** The bytes that are drawn: what was chosen, else all that is touched. */
  #offsets(): readonly [number, number] {
    return this.page.store.now.offset ?? [0, this.page.marks.lastByte(this.page.shade)];
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
    if (this.#longest) return this.#longest;
    let low = Infinity, high = 0;
    for (const long of this.page.marks.longest) if (long > 0) { low = Math.min(low, long); high = Math.max(high, long); }
    this.#longest = high > 0 ? [10 ** Math.floor(Math.log10(Math.max(low, 1e-9))), 10 ** Math.ceil(Math.log10(high) + 1e-9)] : [1e-6, 1];
    return this.#longest;
  }

  protected override moveX(range: readonly [number, number]): void {
    if (this.#kind === "places") this.page.store.drift({ offset: [Math.max(0, range[0]), range[1]] });
    else super.moveX(range);
  }

  protected override chosen(across: readonly [number, number] | null, up: readonly [number, number] | null): void {
    if (this.#kind !== "places") { super.chosen(across, up); return; }
    this.page.brush("ranks", null, up, across ? { offset: [Math.max(0, across[0]), across[1]] } : {});
  }

  protected draw(): void {
    if (!this.page.store.moving) this.note.textContent = this.#notes();
    const ratio = devicePixelRatio || 1, paper = pixel(this.page.theme.paper);
    const wide = Math.max(1, Math.round(this.width * ratio)), high = Math.max(1, Math.round(this.height * ratio));
    const image = this.#image = sized(this.#image, wide, high);
    if (this.#kind === "ranks" || this.#kind === "places") {
      const [first, last] = this.page.ranks();
      const lines = this.#lines = sized(this.#lines, wide, Math.min(high, last - first + 1));
      lines.clear(paper);
      this.#paintRanks(lines, first, last - first + 1);
      if (this.#kind === "ranks") this.#paintOpens(lines, 1, (i) => Math.floor((this.page.opens.rank[i]! - first) * lines.high / (last - first + 1)));
      image.spread(lines, paper, Math.round(ratio));
    } else {
      image.clear(paper);
      this.#paintPlaces(image, ratio);
    }
    this.picture(image.data);
    const unit = this.#kind === "offsets" ? "bytes" : this.#kind === "durations" ? "seconds" : "rank";
    this.axes(unit, this.#kind === "offsets" ? "offset" : this.#kind === "durations" ? "duration" : this.#layer ? `${this.#layer} rank` : "rank");
  }

  /** The passes of a frame: what is faded lies below what is meant. */
  #passes(): number[] { return this.page.finding() && !this.page.store.now.only ? [FADED, SHOWN] : [SHOWN]; }

  #paintRanks(lines: Image, first: number, ranks: number): void {
    const { marks, shade, store: { now } } = this.page, { of, faded } = this.#pixels();
    const across = this.#kind === "places", [low, high] = this.x().domain, scale = lines.wide / (high - low);
    const from = across ? marks.offset : marks.start, to = across ? marks.stop : marks.end;
    const [begin, end] = across ? now.time ? marks.between(...now.time) : [0, marks.count] : marks.between(low, high);
    const per = this.page.report.marks.ranks_per_mark, line = lines.high / ranks;
    const layer = this.#layer === null ? -1 : marks.layers.indexOf(this.#layer);
    for (const pass of this.#passes()) for (let i = begin; i < end; i++) {
      if (shade[i] !== pass || layer >= 0 && marks.kind[i]! >> 1 !== layer) continue;
      const rank = marks.rank[i]! - first;
      if (rank + per <= 0 || rank >= ranks || to[i]! < low || from[i]! > high || across && now.time && marks.end[i]! < now.time[0]) continue;
      const x0 = Math.floor((from[i]! - low) * scale), x1 = Math.max(x0, Math.ceil((to[i]! - low) * scale) - 1);
      const y0 = Math.floor(rank * line), y1 = per === 1 ? y0 : Math.max(y0, Math.ceil((rank + per) * line) - 1);
      lines.bar(x0, x1, y0, y1, pass === FADED ? faded : of[i]!, i);
    }
  }

  #paintPlaces(image: Image, ratio: number): void {
    const { marks, shade } = this.page, { of, faded } = this.#pixels(), [low, high] = this.x().domain;
    const scale = image.wide / (high - low), y = this.y(), thick = this.#kind === "durations" ? Math.round(2 * ratio) : 1;
    const [first, last] = this.page.ranks(), [begin, end] = marks.between(low, high), durations = this.#kind === "durations";
    const [bottom, top] = y.domain, up = image.high / (top - bottom);
    for (const pass of this.#passes()) for (let i = begin; i < end; i++) {
      const rank = marks.rank[i]!;
      if (shade[i] !== pass || marks.end[i]! < low || rank < first || rank > last) continue;
      const x0 = Math.floor((marks.start[i]! - low) * scale), x1 = Math.max(x0, Math.ceil((marks.end[i]! - low) * scale) - 1);
      const y0 = durations ? Math.min(image.high - thick, Math.round(y.at(Math.max(marks.longest[i]!, 1e-9)) * ratio)) : Math.floor(image.high - (marks.stop[i]! - bottom) * up);
      const y1 = Math.max(y0 + thick - 1, durations ? 0 : Math.ceil(image.high - (marks.offset[i]! - bottom) * up) - 1);
      image.bar(x0, x1, y0, y1, pass === FADED ? faded : of[i]!, i);
    }
    if (durations) this.#paintOpens(image, thick, (i) => Math.min(image.high - thick, Math.round(y.at(Math.max(this.page.opens.length[i]!, 1e-9)) * ratio)));
    else this.#paintConflicts(image, ratio, scale, up);
  }

  /** Opens and closes, at the row that each belongs to. They are neither reads nor writes. */
  #paintOpens(image: Image, thick: number, row: (i: number) => number): void {
    const { opens, conflicts, store: { now } } = this.page, colour = pixel(this.page.theme.meta), [low, high] = this.x().domain, scale = image.wide / (high - low);
    const [first, last] = this.page.ranks(), finding = this.page.finding();
    if (now.way !== null || finding && now.only) return;
    for (let i = 0; i < opens.count; i++) {
      const start = opens.start[i]!, end = start + opens.length[i]!, rank = opens.rank[i]!;
      if (end < low || start > high || rank < first || rank > last || now.file !== null && opens.file[i] !== now.file || this.#layer !== null && opens.layer(i) !== this.#layer || now.layer !== null && opens.layer(i) !== now.layer) continue;
      const x0 = Math.floor((start - low) * scale), y0 = row(i);
      image.bar(x0, Math.max(x0, Math.ceil((end - low) * scale) - 1), y0, y0 + thick - 1, colour, -2 - conflicts.count - i);
    }
  }

  /** Conflicts lie above the calls, never smaller than can be seen. */
  #paintConflicts(image: Image, ratio: number, scale: number, up: number): void {
    const { conflicts, store: { now } } = this.page, colour = pixel(this.page.theme.alarm), [low] = this.x().domain, [bottom] = this.y().domain;
    if (!now.conflicts) return;
    const least = Math.round(2 * ratio), [first, last] = this.page.ranks();
    for (let i = 0; i < conflicts.count; i++) {
      if (now.file !== null && conflicts.file[i] !== now.file || conflicts.rank[i]! < first || conflicts.rank[i]! > last) continue;
      const x = Math.floor((conflicts.time[i]! - low) * scale);
      const y1 = Math.ceil(image.high - (conflicts.offset[i]! - bottom) * up) - 1, y0 = Math.min(y1 - least, Math.floor(image.high - (conflicts.offset[i]! + conflicts.extent[i]! - bottom) * up));
      if (x >= -least && x < image.wide && y1 >= 0 && y0 < image.high) image.bar(x - 1, x + least - 1, y0, y1, colour, -2 - i);
    }
  }

  /** The colour of each call; made anew only when the colouring or the theme changes. */
  #pixels(): { of: Uint32Array; faded: number } {
    const { marks, theme: t, store: { now } } = this.page, key = [marks, t, now.colour];
    if (this.#colours && key.every((one, at) => one === this.#colours!.key[at])) return this.#colours;
    const of = new Uint32Array(marks.count), many = 255, table = palette(t, now.colour, many + 1);
    const ranks = Math.max(1, this.page.rankCount() - 1);
    for (let i = 0; i < marks.count; i++) {
      of[i] = now.colour === "way" ? table[marks.kind[i]! & 1]! : now.colour === "size" ? table[sizeBin(marks.bytes[i]! / marks.each[i]!)]! : table[Math.round(marks.rank[i]! / ranks * many)]!;
    }
    this.#colours = { key, of, faded: pixel(mix(t.paper, t.faded, 0.55)) };
    return this.#colours;
  }

  #notes(): string {
    const { marks, report, conflicts } = this.page, now = this.page.store.now;
    const parts = [];
    if (this.#kind === "offsets" || this.#kind === "places") {
      const file = now.file === null ? null : report.files[now.file];
      parts.push(file ? shortPath(file.path) : report.files.length > 1 ? "all files over each other; choose one in the table of files" : "");
    }
    if (this.#kind === "offsets" && conflicts.count > 0) parts.push(`${conflicts.cut ? "the first " : ""}${plural(conflicts.count, "conflict")} between ranks${conflicts.isOrdered ? ", one after the other" : ""}`);
    if (this.#kind === "durations") parts.push(marks.exact ? "each call" : "the longest call of each group", this.page.opens.count < this.page.opens.all ? `the ${count(this.page.opens.count)} longest of ${count(this.page.opens.all)} opens and closes` : "");
    if (!marks.exact) parts.push(`${count(marks.calls)} calls in ${count(marks.count)} groups of at most ${seconds(report.marks.slice)}`);
    return parts.filter(Boolean).join("; ");
  }

  #at(px: number, py: number): number {
    const ratio = devicePixelRatio || 1;
    return this.#image?.near(Math.floor(px * ratio), Math.floor(py * ratio), 3) ?? -1;
  }

  protected hint(px: number, py: number): Hint | null {
    const i = this.#at(px, py), { marks, report } = this.page;
    if (i === -1) return null;
    if (i < -1) return -2 - i < this.page.conflicts.count ? this.#conflict(-2 - i) : this.#open(-2 - i - this.page.conflicts.count);
    const n = marks.each[i]!, per = report.marks.ranks_per_mark;
    const lines: [string, string][] = [
      ["rank", per > 1 ? `${count(marks.rank[i]!)} and ${count(per - 1)} after it` : count(marks.rank[i]!)],
      ["file", this.#file(marks.file[i]!)],
      ["start", seconds(marks.start[i]!)],
      [n > 1 ? "longest" : "duration", seconds(marks.longest[i]!)],
      ["offset", bytes(marks.offset[i]!)],
      ["bytes", `${bytes(marks.bytes[i]!)}${n > 1 ? "" : ` (${count(marks.bytes[i]!)})`}`],
    ];
    lines.push(...this.#called(marks.place?.[i] ?? 0));
    const what = `${marks.layer(i)} ${marks.isWrite(i) ? "write" : "read"}`;
    return { title: n > 1 ? `${what}, ${plural(n, "call")}` : what, lines };
  }

  #called(place: number): [string, string][] {
    const line = this.page.line(place);
    return line === null ? [] : [["called from", line]];
  }

  #file(at: number): string {
    const file = this.page.report.files[at];
    return file ? shortPath(file.path, 60) : "one of those that are not listed";
  }

  #conflict(i: number): Hint {
    const { conflicts: c } = this.page;
    return { title: `conflict: ${c.kind(i)}`, lines: [
      ["rank", `${count(c.rank[i]!)}, after rank ${count(c.other[i]!)}`], ["file", this.#file(c.file[i]!)],
      ["time", seconds(c.time[i]!)], ["bytes", `${bytes(c.extent[i]!)} at ${bytes(c.offset[i]!)}`],
      ["order", c.racing(i) ? "the first call had not ended: the outcome is open" : "one after the other"]] };
  }

  #open(i: number): Hint {
    const { opens } = this.page;
    return { title: `${opens.layer(i)} ${opens.isClose(i) ? "close" : "open"}`, lines: [["rank", count(opens.rank[i]!)], ["file", this.#file(opens.file[i]!)], ["start", seconds(opens.start[i]!)], ["duration", seconds(opens.length[i]!)], ...this.#called(opens.place[i]!)] };
  }

  protected override click(px: number, py: number): void {
    const i = this.#at(px, py), { marks, conflicts, opens, report } = this.page, other = -2 - i;
    // A file's number means another file in another run.
    if (this.page.suffix) return;
    const file = i >= 0 ? marks.file[i]! : i === -1 ? report.files.length : other < conflicts.count ? conflicts.file[other]! : opens.file[other - conflicts.count]!;
    if (file < report.files.length) this.page.store.choose({ file });
  }

  protected rows(): (string | number)[][] {
    const { marks, report } = this.page, now = this.page.store.now;
    const rows: (string | number)[][] = [["layer", "operation", "rank", "file", "start_s", "end_s", "offset", "bytes", "calls", "busy_s", "longest_s", "called_from"]];
    for (let i = 0; i < marks.count; i++) if (this.#shown(i) && marks.within(i, now)) {
      rows.push([marks.layer(i), marks.isWrite(i) ? "write" : "read", marks.rank[i]!, report.files[marks.file[i]!]?.path ?? "", marks.start[i]!, marks.end[i]!, marks.offset[i]!, marks.bytes[i]!, marks.each[i]!, marks.busy[i]!, marks.longest[i]!, this.page.line(marks.place?.[i] ?? 0) ?? ""]);
    }
    const { opens } = this.page;
    for (let i = 0; i < opens.count && this.#kind === "durations"; i++) rows.push([opens.layer(i), opens.isClose(i) ? "close" : "open", opens.rank[i]!, report.files[opens.file[i]!]?.path ?? "", opens.start[i]!, opens.start[i]! + opens.length[i]!, "", "", 1, opens.length[i]!, opens.length[i]!, this.page.line(opens.place[i]!) ?? ""]);
    return rows;
  }

  protected describe(): string {
    const { marks } = this.page, now = this.page.store.now;
    let shown = 0;
    for (let i = 0; i < marks.count; i++) if (this.#shown(i) && marks.within(i, now)) shown += marks.each[i]!;
    return `${plural(shown, "call")} shown.`;
  }
}

/** Read and write, ten sizes, or so many ranks. */
function palette(t: Theme, by: "way" | "size" | "rank", many: number): Uint32Array {
  if (by === "way") return Uint32Array.of(pixel(t.read), pixel(t.write));
  const length = by === "size" ? SIZES.length + 1 : many;
  return Uint32Array.from({ length }, (_, at) => pixel(along(t.ramp, at / (length - 1))));
}

/** Which of ten bins a size falls into; a size equal to a bound is inside. */
export function sizeBin(size: number): number {
  for (let at = 0; at < SIZES.length; at++) if (size <= SIZES[at]!) return at;
  return SIZES.length;
}

/** The colours in words, for the legend. */
export function legend(page: Page): { text: string; colour: Rgb }[] {
  const t = page.theme, by = page.store.now.colour;
  const meta = page.opens.count > 0 ? [{ text: "open, close", colour: t.meta }] : [];
  const clash = page.conflicts.count > 0 && page.store.now.conflicts ? [{ text: "conflict", colour: t.alarm }, ...meta] : meta;
  if (by === "way") return [{ text: "read", colour: t.read }, { text: "write", colour: t.write }, ...clash];
  const ends = by === "size" ? ["≤ 100 B", "> 1 GiB"] : ["rank 0", `rank ${count(page.rankCount() - 1)}`];
  return [{ text: ends[0]!, colour: t.ramp[0]! }, { text: "", colour: t.ramp[2]! }, { text: "", colour: t.ramp[4]! }, { text: ends[1]!, colour: t.ramp[5]! }, ...clash];
}

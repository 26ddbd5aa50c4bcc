// The traced calls in the order of their starts, and which of them a selection shows, fades or
// hides. Everything is typed arrays: pictures go through hundreds of thousands of them a frame.

import type { Columns, Numbers } from "./column";
import type { Finding, Report } from "./model";
import type { Selection } from "./selection";

export const HIDDEN = 0, FADED = 1, SHOWN = 2;

export class Marks {
  readonly count: number;
  /** Calls; more than marks where calls were gathered. */
  readonly calls: number;
  readonly exact: boolean;
  /** Names of the layers that `kind` counts above its lowest bit. */
  readonly layers: string[];
  readonly file: Numbers; readonly rank: Numbers; readonly kind: Numbers;
  readonly start: Numbers; readonly end: Numbers; readonly offset: Numbers; readonly stop: Numbers;
  /** Where in the program they were made: see `lines` of the report. */
  readonly place: Numbers | null;
  readonly bytes: Numbers; readonly each: Numbers; readonly busy: Numbers; readonly longest: Numbers;
  /** The latest end of all marks up to each: where a search by time begins. */
  readonly #latest: Float64Array;
  #bounds: { of: Uint8Array; stop: number } | null = null;

  constructor(report: Report, columns: Columns) {
    this.count = report.marks.count;
    this.calls = report.marks.calls;
    this.exact = report.marks.slice === 0;
    this.layers = report.marks.layers;
    const started = columns.get("marks.start"), order = byStart(started);
    const column = (name: string) => arrange(columns.get(`marks.${name}`), order);
    [this.file, this.rank, this.kind] = [column("file"), column("rank"), column("kind")];
    this.start = arrange(started, order);
    const length = column("length");
    this.end = Float64Array.from(length, (took, i) => this.start[i]! + took);
    this.offset = column("offset");
    this.stop = Float64Array.from(column("extent"), (extent, i) => this.offset[i]! + extent);
    this.bytes = column("bytes");
    this.place = report.marks.placed ? column("place") : null;
    // Of single calls these follow from the others and are not stored.
    this.each = this.exact ? new Uint8Array(this.count).fill(1) : column("each");
    this.busy = this.exact ? length : column("busy");
    this.longest = this.exact ? length : column("longest");
    this.#latest = new Float64Array(this.count);
    for (let i = 0, most = -Infinity; i < this.count; i++) { most = Math.max(most, this.end[i]!); this.#latest[i] = most; }
  }

  isWrite(i: number): boolean { return (this.kind[i]! & 1) !== 0; }
  layer(i: number): string { return this.layers[this.kind[i]! >> 1] ?? "POSIX"; }

  /** The layers that have calls, outermost first. */
  present(): string[] {
    const seen = new Set<number>();
    for (let i = 0; i < this.count; i++) seen.add(this.kind[i]! >> 1);
    return OUTERMOST.filter((name) => [...seen].some((at) => this.layers[at] === name));
  }

  /** The first mark that may reach into a time, and the first that begins after it. */
  between(from: number, to: number): readonly [number, number] {
    return [search(this.#latest, from, false), search(this.start, to, true)];
  }

  /** A shade for each mark. Time and ranks are left to the axes. */
  shade(selection: Selection, finding: Finding | null): Uint8Array {
    const shade = new Uint8Array(this.count).fill(SHOWN);
    const { file, way, only } = selection;
    const layer = selection.layer === null ? -1 : this.layers.indexOf(selection.layer);
    if (selection.layer !== null && layer < 0) return shade.fill(HIDDEN);
    const direction = way === null ? -1 : way === "write" ? 1 : 0;
    if (file !== null || direction >= 0 || layer >= 0) {
      for (let i = 0; i < this.count; i++) {
        const kind = this.kind[i]!;
        if (file !== null && this.file[i] !== file || direction >= 0 && (kind & 1) !== direction || layer >= 0 && kind >> 1 !== layer) shade[i] = HIDDEN;
      }
    }
    if (finding) this.#evidence(shade, finding, only ? HIDDEN : FADED);
    return shade;
  }

  #evidence(shade: Uint8Array, finding: Finding, otherwise: number): void {
    const files = finding.places.length > 0 ? new Set(finding.places) : null;
    const ranks = finding.ranks.length > 0 ? new Set(finding.ranks) : null;
    const window = finding.window_seconds;
    for (let i = 0; i < this.count; i++) {
      const meant = (!files || files.has(this.file[i]!)) && (!ranks || ranks.has(this.rank[i]!))
        && (!window || this.start[i]! <= window[1] && this.end[i]! >= window[0]);
      if (!meant && shade[i] !== HIDDEN) shade[i] = otherwise;
    }
  }

  /** The first byte behind everything that is shown; asked every frame, so it is kept. */
  lastByte(shade: Uint8Array): number {
    if (this.#bounds?.of === shade) return this.#bounds.stop;
    let stop = 1;
    for (let i = 0; i < this.count; i++) if (shade[i] !== HIDDEN && this.stop[i]! > stop) stop = this.stop[i]!;
    this.#bounds = { of: shade, stop };
    return stop;
  }

  /** Whether a mark lies within the chosen time and ranks. */
  within(i: number, s: Selection): boolean {
    return (!s.time || this.start[i]! <= s.time[1] && this.end[i]! >= s.time[0])
      && (!s.ranks || this.rank[i]! >= s.ranks[0] && this.rank[i]! <= s.ranks[1]);
  }
}

/** From the application's calls down to the system's. */
export const OUTERMOST = ["PNETCDF_VAR", "H5D", "MPI-IO", "DFS", "DAOS", "STDIO", "POSIX"];

/** The marks by their starts; null where they stand so already. */
function byStart(start: Numbers): Uint32Array | null {
  let sorted = true;
  for (let i = 1; i < start.length && sorted; i++) sorted = start[i]! >= start[i - 1]!;
  return sorted ? null : new Uint32Array(start.length).map((_, i) => i).sort((a, b) => start[a]! - start[b]! || a - b);
}

function arrange<T extends Numbers>(values: T, order: Uint32Array | null): T {
  if (!order) return values;
  const out = values.slice() as T;
  for (let i = 0; i < order.length; i++) out[i] = values[order[i]!]!;
  return out;
}

/** The first place of an ascending row with a value that is not below (or, behind, above) another. */
export function search(row: Numbers, value: number, behind: boolean): number {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (behind ? row[middle]! <= value : row[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

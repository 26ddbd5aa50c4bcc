// The traced calls, and which of them a selection shows, fades or hides.

import type { Columns, Numbers } from "./column";
import type { Finding, Report } from "./model";
import type { Selection } from "./selection";

export const HIDDEN = 0, FADED = 1, SHOWN = 2;

export class Marks {
  readonly count: number;
  /** Calls; more than marks where calls were gathered. */
  readonly calls: number;
  readonly exact: boolean;
  readonly file: Numbers; readonly rank: Numbers; readonly kind: Numbers;
  readonly start: Numbers; readonly end: Numbers; readonly offset: Numbers; readonly stop: Numbers;
  readonly bytes: Numbers; readonly each: Numbers; readonly busy: Numbers; readonly longest: Numbers;

  constructor(report: Report, columns: Columns) {
    const column = (name: string) => columns.get(`marks.${name}`);
    this.count = report.marks.count;
    this.calls = report.marks.calls;
    this.exact = report.marks.slice === 0;
    [this.file, this.rank, this.kind] = [column("file"), column("rank"), column("kind")];
    this.start = column("start");
    this.end = Float64Array.from(column("length"), (length, i) => this.start[i]! + length);
    this.offset = column("offset");
    this.stop = Float64Array.from(column("extent"), (extent, i) => this.offset[i]! + extent);
    this.bytes = column("bytes");
    // Of single calls these follow from the others and are not stored.
    this.each = this.exact ? new Uint8Array(this.count).fill(1) : column("each");
    const length = column("length");
    this.busy = this.exact ? length : column("busy");
    this.longest = this.exact ? length : column("longest");
  }

  isWrite(i: number): boolean { return (this.kind[i]! & 1) !== 0; }
  layer(i: number): string { return (this.kind[i]! & 2) !== 0 ? "MPI-IO" : "POSIX"; }

  /** A shade for each mark. Time and ranks are left to the axes. */
  shade(selection: Selection, finding: Finding | null): Uint8Array {
    const shade = new Uint8Array(this.count).fill(SHOWN);
    const files = finding && finding.files.length > 0 ? new Set(finding.files) : null;
    const ranks = finding && finding.ranks.length > 0 ? new Set(finding.ranks) : null;
    const window = finding?.window ?? null;
    for (let i = 0; i < this.count; i++) {
      if (selection.file !== null && this.file[i] !== selection.file
        || selection.way !== null && this.isWrite(i) !== (selection.way === "write")
        || selection.layer !== null && this.layer(i) !== selection.layer) { shade[i] = HIDDEN; continue; }
      const meant = !finding || (!files || files.has(this.file[i]!)) && (!ranks || ranks.has(this.rank[i]!))
        && (!window || this.start[i]! <= window[1] && this.end[i]! >= window[0]);
      if (!meant) shade[i] = selection.only ? HIDDEN : FADED;
    }
    return shade;
  }

  /** Whether a mark lies within the chosen time and ranks. */
  within(i: number, s: Selection): boolean {
    return (!s.time || this.start[i]! <= s.time[1] && this.end[i]! >= s.time[0])
      && (!s.ranks || this.rank[i]! >= s.ranks[0] && this.rank[i]! <= s.ranks[1]);
  }
}

// Places where ranks use each other's bytes.

import type { Columns, Numbers } from "./column";
import type { Report } from "./model";

const KINDS = ["read after write", "write after read", "write after write"];

export class Conflicts {
  readonly count: number;
  /** Whether there are more than these. */
  readonly cut: boolean;
  readonly file: Numbers; readonly time: Numbers; readonly rank: Numbers; readonly other: Numbers;
  readonly offset: Numbers; readonly extent: Numbers;
  readonly #kind: Numbers;

  constructor(report: Report, columns: Columns) {
    const column = (name: string) => columns.get(`conflicts.${name}`);
    this.count = report.conflicts.count;
    this.cut = report.conflicts.cut;
    [this.file, this.time, this.rank, this.other] = [column("file"), column("time"), column("rank"), column("other")];
    [this.offset, this.extent, this.#kind] = [column("offset"), column("extent"), column("kind")];
  }

  /** Whether none of them is a race. */
  get isOrdered(): boolean { return !this.#kind.some((kind) => (kind & 4) !== 0); }

  kind(i: number): string { return KINDS[this.#kind[i]! & 3] ?? ""; }
  /** Whether the later call began before the earlier had ended. */
  racing(i: number): boolean { return (this.#kind[i]! & 4) !== 0; }
}

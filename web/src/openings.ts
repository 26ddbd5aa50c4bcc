// Opens and closes: when, by whom, how long.

import type { Columns, Numbers } from "./column";
import type { Report } from "./model";

export class Openings {
  readonly count: number;
  /** How many there are; more than `count` where only the longest are in the page. */
  readonly all: number;
  /** Where in the program: see `lines` of the report. */
  readonly place: Numbers;
  readonly file: Numbers; readonly rank: Numbers; readonly start: Numbers; readonly length: Numbers;
  readonly #kind: Numbers;
  readonly #layers: string[];

  constructor(report: Report, columns: Columns) {
    const column = (name: string) => columns.get(`opens.${name}`);
    this.count = report.opens.count;
    this.all = report.opens.all;
    this.place = column("place");
    [this.file, this.rank, this.start, this.length, this.#kind] = [column("file"), column("rank"), column("start"), column("length"), column("kind")];
    this.#layers = report.marks.layers;
  }

  isClose(i: number): boolean { return (this.#kind[i]! & 1) !== 0; }
  layer(i: number): string { return this.#layers[this.#kind[i]! >> 1] ?? "POSIX"; }
}

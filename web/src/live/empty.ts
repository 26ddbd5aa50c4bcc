// A report in which nothing is, for a page whose job has not been looked at yet: its axes, colours and
// selection are there from the beginning.

import type { ColumnPlace, Report } from "../model";
import { Columns } from "../column";

const COLUMNS = {
  marks: ["file", "rank", "kind", "start", "length", "offset", "extent", "bytes"],
  conflicts: ["file", "time", "rank", "other", "offset", "extent", "kind"],
  opens: ["file", "place", "rank", "start", "length", "kind"],
};

export function empty(command: string, nprocs: number): { report: Report; columns: Columns } {
  const places: Record<string, ColumnPlace> = {};
  for (const [group, names] of Object.entries(COLUMNS)) for (const name of names) places[`${group}.${name}`] = { type: "u8", count: 0, kept: 0, planes: [] };
  const report: Report = {
    netra: "", job: { source: "", command, id: "", nprocs, mpi: true, nodes: null, start: null, run_time: 0 },
    verdict: { seconds: 0, share: 0, at_most: 0, mean: 0, rank: 0, parts: [0, 0, 0], waiting: 0, says: "", place: null },
    trust: { complete: true, coverage: null, summed: 0, caveats: [], unknown: [], aside: [], modules: [] },
    findings: [], passed: [], silenced: [], layers: [], files: [], file_count: 0, size_bins: [],
    osts: { list: [], median: 0 }, phases: null,
    ranks: { complete: true, counted: true, count: 0, hosts: [], rank: "", seconds: "", bytes: "", reads: "", writes: "", host: "" },
    timeline: { end: 0, bins: 0, lanes: [] }, grids: [], lines: [],
    marks: { calls: 0, count: 0, slice: 0, ranks_per_mark: 1, layers: [], placed: false },
    functions: [], sites: [], views: [], conflicts: { count: 0, cut: false }, opens: { count: 0, all: 0 },
    targets: [], nodes: null, columns: places,
  };
  return { report, columns: new Columns(new Uint8Array(0), places) };
}

// What a report holds, as `crates/show/src/html` writes it. Times are seconds since the job's
// start, sizes bytes; a column is the name of an array in the packed part (column.ts).

export type Way = "read" | "write";

/** Where times come from: single calls; bytes counted in steps; seconds spread between first and last call. */
export type Basis = "traced" | "counted" | "spread";

export interface Job {
  source: string; command: string; id: string; nprocs: number; nodes: number | null;
  /** Whether processes are ranks of MPI. */
  mpi: boolean;
  /** Seconds since 1970. */
  start: number | null;
  run_time: number;
}

export interface Verdict {
  seconds: number; share: number; at_most: number; mean: number; rank: number;
  /** Reads, writes, metadata of `seconds`. */
  parts: [number, number, number];
  waiting: number;
  says: string;
  /** Where the time goes. */
  place: string | null;
}

export interface Trust { complete: boolean; coverage: number | null; summed: number; caveats: string[]; unknown: string[]; aside: string[]; modules: string[] }

export interface Finding {
  slug: string; title: string; level: "HIGH" | "WARN" | "INFO"; says: string;
  lost_seconds: number; share: number; confidence: string; audience: string[];
  evidence: { name: string; text: string }[];
  /** Indices into the report's `files`. */
  places: number[];
  /** How many files it is about; more than are listed where there are many. */
  file_count: number;
  ranks: number[]; window_seconds: [number, number] | null;
  /** Lines of the program that cause it. */
  lines: { says: string; call: string; calls: number; bytes: number; rank_seconds: number }[];
  /** How to see its numbers again. */
  queries: { command: string | null; sql: string }[];
  advice: { says: string; code: string | null }[];
  gain: { seconds: number; assuming: string } | null;
  symptoms: Finding[];
}

export interface Layer {
  name: string; files: number; reads: number; writes: number; opens: number;
  bytes_read: number; bytes_written: number;
  /** Seconds of all ranks in reads, writes, metadata. */
  seconds: [number, number, number];
  /** Calls by size; null where the layer does not count them. */
  sizes: { read: number[]; write: number[] } | null;
}

export interface File {
  path: string; kind: string | null; mount: string | null; ranks: number; shared: boolean;
  layers: string[]; reads: number; writes: number; bytes_read: number; bytes_written: number;
  opens: number; seeks: number; seconds: [number, number, number]; stripes: number | null;
  /** Bytes up to the last one that was used; null where no layer says. */
  size: number | null;
}

export interface Ost { ost: number; server: string; files: number; bytes: number; alone: number; seconds_mean: number; seconds_max: number }

export interface Phase {
  start: number; end: number; calls: number; bytes_read: number; bytes_written: number; ranks: number;
  fastest: [number, number]; slowest: [number, number];
}

export interface Lane { layer: string; way: Way; basis: Basis; busy: string; bytes: string }

export interface Grid {
  layer: string; basis: Basis; ranks_per_row: number; rows: number; bins: number; summed: number;
  read: string; write: string; busiest: string; bytes: string;
}

export interface Site { site: string; source: string | null; line: number | null; function: string; calls: number; failed: number; bytes: number; seconds: number; stack: string[] }

/** A Lustre target as one layer used it; `seconds` of its ranks: least, quartiles, most. */
export interface Target { ost: number; calls: number; bytes_read: number; bytes_written: number; ranks: number; seconds: [number, number, number, number, number] }

/** Lustre targets over time, and their servers where the site has told them. */
export interface Targets {
  layer: string; per_row: number; bins: number; read: string; write: string; list: Target[];
  servers: { per_row: number; names: string[]; read: string; write: string } | null;
}

/** Nodes over time: bytes, and calls that began. */
export interface Nodes { layer: string; per_row: number; bins: number; hosts: string[]; read: string; write: string; reads: string; writes: string }

/** An operator or function first, then what it is applied to. */
export type Expression = ["number", number] | ["text", string] | ["column", string] | [string, Expression] | [string, Expression, Expression];

/** A chart that a file describes (docs/use/views.md), checked by netra. */
export interface View {
  slug: string; title: string; note: string; from: string;
  where: Expression | null; group: Expression | null; sort: Expression | null; down: boolean; limit: number | null;
  chart: { kind: "bars" | "boxes" | "points" | "table"; unit: "count" | "seconds" | "bytes" | "share"; scale: "linear" | "log"; axis: string; x: Expression; per: Expression | null; most: number; median: boolean };
  series: { name: string; colour: string; value: Expression }[];
}

/** Several runs on one page. */
export interface Comparison {
  compare: { netra: string; says: string; findings: { slug: string; title: string; runs: ({ level: string; lost_seconds: number } | null)[] }[] };
  runs: Report[];
}

export interface Report {
  netra: string;
  job: Job; verdict: Verdict; trust: Trust; findings: Finding[];
  passed: { slug: string; says: string }[]; silenced: string[];
  layers: Layer[]; files: File[]; file_count: number; size_bins: string[];
  osts: { list: Ost[]; median: number };
  phases: { list: Phase[]; gap: number; period: number | null } | null;
  ranks: { complete: boolean; counted: boolean; count: number; hosts: string[]; rank: string; seconds: string; bytes: string; reads: string; writes: string; host: string };
  timeline: { end: number; bins: number; lanes: Lane[] };
  grids: Grid[];
  /** Lines of the program that drawn calls were made from; columns of places hold 0 where that is
   *  not known, 1 for several, else two more than the place in this list. */
  lines: string[];
  marks: { calls: number; count: number; slice: number; ranks_per_mark: number; layers: string[]; placed: boolean };
  functions: { layer: string; name: string; calls: number; seconds: number | null }[];
  /** Places in the program with what they call; `site` is `function (file:line)` as far as known. */
  sites: Site[];
  views: View[];
  conflicts: { count: number; cut: boolean };
  opens: { count: number; all: number };
  targets: Targets[];
  nodes: Nodes | null;
  columns: Record<string, ColumnPlace>;
}

/** Type, number of values and of those that are stored, as `runs` of equal ones or all; `delta` where differences are; where the bytes of each weight begin, nowhere if they are zero. */
export interface ColumnPlace { type: "u8" | "u16" | "u32" | "u64" | "f32" | "ticks"; count: number; kept: number; runs?: number; delta?: boolean; tick?: number; planes: (number | null)[] }

// What the server tells of jobs, as `crates/show/src/serve` writes it. Times are seconds since
// 1970 unless they say otherwise, durations of calls nanoseconds.

export interface Dropped { reason: string; says: string; events: number }

export interface Completeness { complete: boolean; produced: number; delivered: number; in_flight: number; dropped: Dropped[]; missed_here: number;
  /** Why something is missing, of stored jobs. */
  why?: string | null }

/** A job in the list. */
export interface Job {
  job: string; uid: number | null; user: string | null; command: string | null; exe: string | null;
  state: "running" | "ended"; start: number; end: number | null; elapsed: number;
  ranks: number; processes: number; hosts: string[];
  bytes_read: number; bytes_written: number; reads: number; writes: number;
  read_rate: number; write_rate: number; call_rate: number;
  /** Share of the processes' time in calls. */
  share: number;
  /** Nothing where nobody has looked yet. */
  findings: { high: number; warn: number; info: number } | null; worst: string | null;
  /** Whether it lies in the store, and nothing more comes of it here. */
  stored?: boolean;
  lag: number; completeness: Completeness;
}

export interface Jobs {
  now: number; jobs: Job[];
  /** Whether there is a store to search, and what went wrong with it. */
  store?: boolean; wrong?: string;
}

/** Layer, way, calls, bytes, nanoseconds. */
export type Cell = [number, number, number, number, number];
/** Calls, and what half, 95 and 99 of 100 do not exceed. */
export type Percentiles = [number, number, number, number];

export interface Step { at: number; cells: Cell[]; latency: (Percentiles | null)[] }

export interface Rank { rank: number | null; pid: number; host: string; calls: number; bytes_read: number; bytes_written: number; nanos: number[]; longest: number; over: boolean }

export interface FileUse { path: string; processes: number; reads: number; writes: number; bytes_read: number; bytes_written: number; nanos: number[] }

export interface Metric { host: string; target: string; name: string; group: string; unit: string;
  /** Seconds that a point stands for. */
  width: number; points: [number, number][] }

export interface Standing { slug: string; number: number; title: string; level: "HIGH" | "WARN" | "INFO"; says: string; lost: number; since: number; changed: number; gone: number | null }

/** A number of a node that goes with slow calls. */
export interface Relation { host: string; target: string; name: string; value: number; lead: number; chance: number; steps: number }

export interface Diagnosis { number: number; at: number; took: number; failed: string | null; standings: Standing[]; related: Relation[] }

/** One job: everything, or what changed since a version. */
export interface Update extends Job {
  now: number; since: number;
  /** When the newest event that came ended. */
  newest: number;
  layers: string[]; ways: string[];
  /** Seconds of a step. */
  width: number;
  steps: Step[]; latency: (Percentiles | null)[][];
  ranks_list: Rank[]; files: FileUse[]; file_count: number; metrics: Metric[]; diagnosis: Diagnosis;
}

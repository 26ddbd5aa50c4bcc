// What is known of one job over time, put together from what the server tells piece by piece.

import type { Metric, Percentiles, Standing, Step, Update } from "./model";

/** Values of a metric in the order of time; times are seconds since 1970. */
export interface Measured { about: Metric; times: number[]; values: number[] }

/** What is known at one moment. */
class Known {
  /** The newest update, for everything that is told whole each time. */
  last: Update | null = null;
  steps = new Map<number, Step>();
  order: Step[] | null = null;
  metrics = new Map<string, Measured>();

  /** Another that stays as it is when this one grows. Steps are replaced and never changed, so they are shared. */
  copy(): Known {
    const other = new Known();
    other.last = this.last;
    other.steps = new Map(this.steps);
    other.metrics = new Map([...this.metrics].map(([key, { about, times, values }]) => [key, { about, times: [...times], values: [...values] }]));
    return other;
  }
}

export class History {
  readonly #newest = new Known();
  /** What is looked at while the page stands still. */
  #held: Known | null = null;

  get #known(): Known { return this.#held ?? this.#newest; }

  /** Stands still: what comes from now on is kept, and seen when it goes on. */
  hold(still: boolean): void { this.#held = still ? this.#held ?? this.#newest.copy() : null; }

  take(update: Update): void {
    const known = this.#newest;
    // Longer steps, or a server that begins anew: everything comes again.
    if (update.since === 0 || (known.last && known.last.width !== update.width)) {
      known.steps.clear();
      if (update.since === 0) known.metrics.clear();
    }
    for (const step of update.steps) known.steps.set(step.at, step);
    known.order = null;
    for (const metric of update.metrics) {
      const key = `${metric.host}\n${metric.target}\n${metric.name}`;
      const had = known.metrics.get(key);
      // Of longer steps all are told again, and those between them are no more.
      const grown = had && had.about.width === metric.width ? had : { about: metric, times: [], values: [] };
      for (const [at, value] of metric.points) put(grown, at, value);
      known.metrics.set(key, grown);
    }
    known.last = update;
  }

  get last(): Update | null { return this.#known.last; }
  /** The newest, also while the page stands still. */
  get newest(): Update | null { return this.#newest.last; }
  get start(): number { return this.last?.start ?? 0; }
  get width(): number { return this.last?.width ?? 1; }
  /** Seconds since the start. */
  get end(): number { return Math.max(0.001, this.last?.elapsed ?? 0); }

  /** Steps in order; times are seconds since 1970. */
  steps(): Step[] {
    const known = this.#known;
    return known.order ??= [...known.steps.values()].sort((a, b) => a.at - b.at);
  }

  /** Where steps have their places in rows of numbers: when the first begins, in seconds since the job's start, how many there are from
   *  the first to the last, and which a step is. */
  grid(): { first: number; count: number; index: (at: number) => number } {
    const steps = this.steps(), from = steps[0]?.at ?? 0, { width } = this, index = (at: number) => Math.round((at - from) / width);
    return { first: from - this.start, count: steps.length === 0 ? 0 : index(steps.at(-1)!.at) + 1, index };
  }

  /** The step in which a moment lies. */
  at(time: number): Step | null {
    return this.#known.steps.get(Math.floor((this.start + time) / this.width) * this.width) ?? null;
  }

  metrics(): Measured[] { return [...this.#known.metrics.values()]; }

  /** Findings that stood at a moment. */
  standing(time: number): Standing[] {
    const moment = this.start + time;
    return (this.last?.diagnosis.standings ?? []).filter((one) => one.since <= moment && (one.gone === null || one.gone > moment));
  }
}

/** Puts a value into its place: nearly always the last, or behind it. */
function put(row: Measured, time: number, value: number): void {
  let at = row.times.length;
  while (at > 0 && row.times[at - 1]! > time) at--;
  if (at > 0 && row.times[at - 1] === time) { row.values[at - 1] = value; return; }
  row.times.splice(at, 0, time); row.values.splice(at, 0, value);
}

/** One number of a step's cells: of a layer and way, or of all ways. */
export function sum(step: Step, layer: number, way: number | null, part: 2 | 3 | 4): number {
  let all = 0;
  for (const cell of step.cells) if (cell[0] === layer && (way === null || cell[1] === way)) all += cell[part];
  return all;
}

export function percentile(step: Step, way: 0 | 1, which: 1 | 2 | 3): number | null {
  const found: Percentiles | null | undefined = step.latency[way];
  return found ? found[which] : null;
}

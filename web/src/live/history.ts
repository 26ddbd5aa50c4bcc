// What is known of one job over time, put together from what the server tells piece by piece.

import type { Cell, Metric, Percentiles, Standing, Step, Update } from "./model";

export interface Point { time: number; value: number }

/** What is known at one moment. */
class Known {
  /** The newest update, for everything that is told whole each time. */
  last: Update | null = null;
  steps = new Map<number, Step>();
  order: number[] | null = null;
  metrics = new Map<string, { about: Metric; points: Map<number, number> }>();

  /** Another that stays as it is when this one grows. Steps are replaced and never changed, so they are shared. */
  copy(): Known {
    const other = new Known();
    other.last = this.last;
    other.steps = new Map(this.steps);
    other.metrics = new Map([...this.metrics].map(([key, { about, points }]) => [key, { about, points: new Map(points) }]));
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
      const had = known.metrics.get(key) ?? { about: metric, points: new Map<number, number>() };
      // Of longer steps all are told again, and those between them are no more.
      if (had.about.width !== metric.width) { had.about = metric; had.points.clear(); }
      for (const [at, value] of metric.points) had.points.set(at, value);
      known.metrics.set(key, had);
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

  /** Steps in order; times are seconds since the job's start. */
  steps(): Step[] {
    const known = this.#known;
    known.order ??= [...known.steps.keys()].sort((a, b) => a - b);
    return known.order.map((at) => known.steps.get(at)!);
  }

  /** The step in which a moment lies. */
  at(time: number): Step | null {
    return this.#known.steps.get(Math.floor((this.start + time) / this.width) * this.width) ?? null;
  }

  metrics(): { about: Metric; points: Point[] }[] {
    return [...this.#known.metrics.values()].map(({ about, points }) => ({
      about, points: [...points].sort((a, b) => a[0] - b[0]).map(([at, value]) => ({ time: at - this.start, value })),
    }));
  }

  /** Findings that stood at a moment. */
  standing(time: number): Standing[] {
    const moment = this.start + time;
    return (this.last?.diagnosis.standings ?? []).filter((one) => one.since <= moment && (one.gone === null || one.gone > moment));
  }
}

/** One number of a step's cells: of a layer and way, or of all ways. */
export function sum(step: Step, layer: number, way: number | null, part: 2 | 3 | 4): number {
  let all = 0;
  for (const cell of step.cells) if (cell[0] === layer && (way === null || cell[1] === way)) all += cell[part];
  return all;
}

/** The layers in which anything happened, outermost first. */
export function layersUsed(steps: readonly Step[]): number[] {
  const used = new Set<number>();
  for (const step of steps) for (const cell of step.cells as Cell[]) used.add(cell[0]);
  return [...used].sort((a, b) => b - a);
}

export function percentile(step: Step, way: 0 | 1, which: 1 | 2 | 3): number | null {
  const found: Percentiles | null | undefined = step.latency[way];
  return found ? found[which] : null;
}

// What is known of one job over time, put together from what the server tells piece by piece.

import type { Cell, Metric, Percentiles, Standing, Step, Update } from "./model";

export interface Point { time: number; value: number }

export class History {
  /** The newest update, for everything that is told whole each time. */
  last: Update | null = null;
  #steps = new Map<number, Step>();
  #order: number[] | null = null;
  #metrics = new Map<string, { about: Metric; points: Map<number, number> }>();

  take(update: Update): void {
    // Longer steps, or a server that begins anew: everything comes again.
    if (update.since === 0 || (this.last && this.last.width !== update.width)) {
      this.#steps.clear();
      if (update.since === 0) this.#metrics.clear();
    }
    for (const step of update.steps) this.#steps.set(step.at, step);
    this.#order = null;
    for (const metric of update.metrics) {
      const key = `${metric.host}\n${metric.target}\n${metric.name}`;
      const known = this.#metrics.get(key) ?? { about: metric, points: new Map<number, number>() };
      for (const [at, value] of metric.points) known.points.set(at, value);
      this.#metrics.set(key, known);
    }
    this.last = update;
  }

  get start(): number { return this.last?.start ?? 0; }
  get width(): number { return this.last?.width ?? 1; }
  /** Seconds since the start. */
  get end(): number { return Math.max(0.001, this.last?.elapsed ?? 0); }

  /** Steps in order; times are seconds since the job's start. */
  steps(): Step[] {
    this.#order ??= [...this.#steps.keys()].sort((a, b) => a - b);
    return this.#order.map((at) => this.#steps.get(at)!);
  }

  /** The step in which a moment lies. */
  at(time: number): Step | null {
    return this.#steps.get(Math.floor((this.start + time) / this.width) * this.width) ?? null;
  }

  metrics(): { about: Metric; points: Point[] }[] {
    return [...this.#metrics.values()].map(({ about, points }) => ({
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

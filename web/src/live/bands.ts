// Bands over the common axis of time, each with values of its own: stacked bars, or lines.

import type { Page } from "../page";
import type { Scale } from "../scale";
import { type Hint, Plot } from "../plot";
import { linear } from "../scale";
import { seconds } from "../format";

/** Values in the order of time, one a step; NaN where nothing was measured. */
export interface Line { name: string; colour: string; values: Float64Array }

export interface Band {
  name: string;
  kind: "stack" | "lines";
  /** When the first value begins, and seconds that each stands for. */
  first: number;
  width: number;
  text: (value: number) => string;
  lines: Line[];
}

const HIGH = 46, GAP = 10, AROUND = 34;

export class Bands extends Plot {
  #bands: Band[] = [];
  readonly #source: () => Band[];
  /** The moment that is looked at. */
  moment: number | null = null;

  constructor(page: Page, id: string, title: string, note: string, source: () => Band[]) {
    super(page, { id: page.id(id), title, height: AROUND + HIGH, brush: "time" });
    this.#source = source;
    this.note.textContent = note;
    this.take();
  }

  /** Asks for what there is now. */
  take(): void {
    this.#bands = this.#source();
    this.tall(AROUND + Math.max(1, this.#bands.length) * (HIGH + GAP));
    this.figure.hidden = this.#bands.length === 0;
  }

  protected y(): Scale { return linear([0, 1], [this.height, 0]); }

  protected draw(): void {
    const c = this.context, t = this.page.theme, x = this.x();
    c.font = "11px system-ui, sans-serif";
    this.#bands.forEach((band, at) => {
      const top = at * (HIGH + GAP), ground = top + HIGH, most = peak(band, x.domain);
      c.textAlign = "right"; c.textBaseline = "middle";
      c.fillStyle = t.ink; c.fillText(band.name, -8, top + HIGH / 2 - 7, 76);
      c.fillStyle = t.muted; if (most > 0) c.fillText(band.text(most), -8, top + HIGH / 2 + 8, 76);
      if (band.kind === "stack") this.#stack(band, x, ground, most); else { this.#lines(band, x, ground, most); this.#legend(band, top); }
      c.strokeStyle = t.line; c.beginPath(); c.moveTo(0, ground + 0.5); c.lineTo(this.width, ground + 0.5); c.stroke();
    });
    if (this.moment !== null) {
      const at = Math.round(x.at(this.moment)) + 0.5;
      c.strokeStyle = t.accent; c.lineWidth = 1.5; c.beginPath(); c.moveTo(at, 0); c.lineTo(at, this.height); c.stroke(); c.lineWidth = 1;
    }
    this.xAxis();
  }

  #stack(band: Band, x: Scale, ground: number, most: number): void {
    const c = this.context, steps = this.#steps(band, x), below = new Float64Array(steps.length);
    // Whole pixels: one rectangle after the other is painted many times faster than one path of all of them with smooth edges.
    const edge = (time: number) => Math.round(Math.min(this.width, Math.max(0, x.at(time))));
    for (const line of band.lines) {
      c.fillStyle = line.colour;
      steps.forEach((step, at) => {
        const value = line.values[step]!;
        if (!(value > 0)) return;
        const time = band.first + step * band.width, left = edge(time), wide = edge(time + band.width) - left;
        const foot = Math.round(ground - below[at]! / most * HIGH), tall = Math.max(1, Math.round(value / most * HIGH));
        // A hair between steps, where there is room for it.
        c.fillRect(left, foot - tall, Math.max(1, wide - (wide > 6 ? 1 : 0)), tall);
        below[at]! += value;
      });
    }
  }

  #lines(band: Band, x: Scale, ground: number, most: number): void {
    const c = this.context, steps = this.#steps(band, x);
    for (const line of band.lines) {
      c.strokeStyle = line.colour; c.lineWidth = 1.4; c.beginPath();
      let before: number | null = null;
      for (const step of steps) {
        const value = line.values[step]!;
        if (Number.isNaN(value)) continue;
        const time = band.first + (step + 0.5) * band.width, at = Math.min(this.width, Math.max(0, x.at(time))), up = ground - (most > 0 ? value / most * HIGH : 0);
        // Where nothing was measured there is no line.
        if (before === null || (step - before > 3 && x.at(time) - x.at(time - (step - before) * band.width) > 3)) { c.moveTo(at, up); c.lineTo(at + 1, up); } else c.lineTo(at, up);
        before = step;
      }
      c.stroke();
    }
    c.lineWidth = 1;
  }

  /** The steps that are drawn: those in sight, and where several have one pixel the highest of them. */
  #steps(band: Band, x: Scale): number[] {
    const [from, to] = inSight(band, x.domain), all: number[] = [], many = to - from > this.width;
    let pixel = -1, high = 0;
    for (let step = from; step < to; step++) {
      const at = Math.floor(x.at(band.first + step * band.width)), value = many ? height(band, step) : 0;
      if (!many || at !== pixel) { all.push(step); pixel = at; high = value; } else if (value > high) { all[all.length - 1] = step; high = value; }
    }
    return all;
  }

  /** Which line is which, in its colour, where there are several: over what is oldest, which is looked at least. */
  #legend(band: Band, top: number): void {
    const c = this.context;
    let left = 4;
    c.textAlign = "left"; c.textBaseline = "middle";
    for (const line of band.lines.length > 1 ? band.lines : []) {
      const wide = c.measureText(line.name).width;
      if (left + wide > this.width) break;
      c.fillStyle = this.page.theme.css(this.page.theme.paper); c.globalAlpha = 0.75; c.fillRect(left - 3, top - 2, wide + 6, 13); c.globalAlpha = 1;
      c.fillStyle = line.colour; c.fillText(line.name, left, top + 5);
      left += wide + 12;
    }
  }

  protected hint(px: number, py: number): Hint | null {
    const time = this.x().value(px), band = this.#bands[Math.floor(py / (HIGH + GAP))];
    if (!band) return null;
    const step = Math.floor((time - band.first) / band.width);
    const lines = band.lines.map((line): [string, string] => {
      const value = line.values[step] ?? NaN;
      return [line.name, Number.isNaN(value) ? "–" : band.text(value)];
    });
    return { title: `${band.name}, ${seconds(time)} after the start`, lines };
  }

  protected rows(): (string | number)[][] {
    const head = ["band", "line", "start_s", "value"];
    return [head, ...this.#bands.flatMap((band) => band.lines.flatMap((line) => [...line.values].flatMap((value, step) => Number.isNaN(value) ? [] : [[band.name, line.name, band.first + step * band.width, value]])))];
  }

  protected describe(): string { return this.#bands.map((band) => `${band.name}: up to ${band.text(peak(band, [-Infinity, Infinity]))}`).join(", "); }
}

/** The first step in sight, and the one after the last. */
function inSight(band: Band, [low, high]: readonly [number, number]): [number, number] {
  const count = band.lines[0]?.values.length ?? 0, step = (time: number) => (time - band.first) / band.width;
  return [Math.max(0, Math.ceil(step(low) - 1)), Math.min(count, Math.floor(step(high)) + 1)];
}

/** How high a step is: stacked values stand on each other. */
function height(band: Band, step: number): number {
  let all = 0;
  for (const { values } of band.lines) {
    const value = values[step]!;
    if (value > 0) all = band.kind === "stack" ? all + value : Math.max(all, value);
  }
  return all;
}

/** The highest step in sight. */
function peak(band: Band, sight: readonly [number, number]): number {
  const [from, to] = inSight(band, sight);
  let most = 0;
  for (let step = from; step < to; step++) most = Math.max(most, height(band, step));
  return most;
}

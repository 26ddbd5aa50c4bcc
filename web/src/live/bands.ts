// Bands over the common axis of time, each with values of its own: stacked bars, or lines.

import type { Page } from "../page";
import type { Scale } from "../scale";
import { type Hint, Plot } from "../plot";
import { linear } from "../scale";
import { seconds } from "../format";

export interface Line { name: string; colour: string; points: { time: number; value: number }[] }

export interface Band {
  name: string;
  kind: "stack" | "lines";
  /** Seconds that a value stands for. */
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
    this.options.height = AROUND + Math.max(1, this.#bands.length) * (HIGH + GAP);
    this.figure.hidden = this.#bands.length === 0;
  }

  protected y(): Scale { return linear([0, 1], [this.height, 0]); }

  protected draw(): void {
    const c = this.context, t = this.page.theme, x = this.x(), [low, high] = x.domain;
    c.font = "11px system-ui, sans-serif";
    this.#bands.forEach((band, at) => {
      const top = at * (HIGH + GAP), ground = top + HIGH, most = peak(band, low, high);
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
    const c = this.context, [low, high] = x.domain, below = new Map<number, number>();
    for (const line of band.lines) {
      c.fillStyle = line.colour; c.beginPath();
      for (const { time, value } of line.points) {
        if (time + band.width < low || time > high || value <= 0) continue;
        const from = below.get(time) ?? 0, left = Math.max(0, x.at(time)), right = Math.min(this.width, x.at(time + band.width));
        const tall = Math.max(1, value / most * HIGH);
        // A hair between steps, where there is room for it.
        c.rect(left, ground - from / most * HIGH - tall, Math.max(1, right - left - (right - left > 6 ? 1 : 0)), tall);
        below.set(time, from + value);
      }
      c.fill();
    }
  }

  #lines(band: Band, x: Scale, ground: number, most: number): void {
    const c = this.context, [low, high] = x.domain;
    for (const line of band.lines) {
      c.strokeStyle = line.colour; c.lineWidth = 1.4; c.beginPath();
      let before: number | null = null;
      for (const { time, value } of line.points) {
        if (time + band.width < low || time - band.width > high) continue;
        const at = Math.min(this.width, Math.max(0, x.at(time + band.width / 2))), up = ground - (most > 0 ? value / most * HIGH : 0);
        // Where nothing was measured there is no line.
        if (before === null || time - before > band.width * 3.5) { c.moveTo(at, up); c.lineTo(at + 1, up); } else c.lineTo(at, up);
        before = time;
      }
      c.stroke();
    }
    c.lineWidth = 1;
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
    const lines = band.lines.map((line): [string, string] => {
      const point = line.points.find((one) => time >= one.time && time < one.time + band.width);
      return [line.name, point ? band.text(point.value) : "–"];
    });
    return { title: `${band.name}, ${seconds(time)} after the start`, lines };
  }

  protected rows(): (string | number)[][] {
    const head = ["band", "line", "start_s", "value"];
    return [head, ...this.#bands.flatMap((band) => band.lines.flatMap((line) => line.points.map((point) => [band.name, line.name, point.time, point.value])))];
  }

  protected describe(): string { return this.#bands.map((band) => `${band.name}: up to ${band.text(peak(band, -Infinity, Infinity))}`).join(", "); }
}

/** The highest value in sight; stacked values stand on each other. */
function peak(band: Band, low: number, high: number): number {
  const sums = new Map<number, number>();
  let most = 0;
  for (const line of band.lines) for (const { time, value } of line.points) {
    if (time + band.width < low || time > high) continue;
    const all = band.kind === "stack" ? (sums.get(time) ?? 0) + value : value;
    if (band.kind === "stack") sums.set(time, all);
    if (all > most) most = all;
  }
  return most;
}

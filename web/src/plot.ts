// A picture with axes on a canvas: sizes, pointer, keys, tool buttons. What is drawn inside is
// the business of its kinds (timeline.ts, heat.ts, raster.ts).

import type { Page } from "./page";
import type { Scale } from "./scale";
import type { Selection } from "./selection";
import { linear, niceTicks } from "./scale";
import { h } from "./element";
import { bytes, count, tick } from "./format";
import { Pen } from "./pen";
import { saveCanvas, saveCsv, saveText } from "./save";

/** Every picture over time has the same borders, so that equal times stand under each other. */
export const MARGIN = { left: 94, right: 14, top: 6, bottom: 22 } as const;

/** Clicks that follow each other within so many milliseconds belong together. */
const TWICE = 600;

export interface Options {
  id: string; title: string; height: number;
  /** What a brush upwards means. */
  brush: "time" | "ranks" | "offset";
  /** Leaves out the axis of time where another picture follows closely. */
  bare?: boolean;
}

export interface Hint { title: string; lines: [string, string][] }

export abstract class Plot {
  readonly figure: HTMLElement;
  protected readonly page: Page;
  protected readonly options: Options;
  protected readonly canvas: HTMLCanvasElement;
  protected context: CanvasRenderingContext2D;
  protected readonly note: HTMLElement;
  protected readonly caption: HTMLElement;
  protected readonly buttons: HTMLElement;
  readonly #frame: HTMLElement;
  readonly #cross: HTMLElement;
  readonly #box: HTMLElement;
  #pending = false;
  #seen = false;
  /** Where the keys point, in CSS pixels of the inner area. */
  #cursor: { x: number; y: number } | null = null;
  #drag: { x: number; y: number; pan: boolean; from: readonly [number, number] } | null = null;
  /** When the button went down last, and what was chosen before the first of several clicks. */
  #pressed = -Infinity;
  #before: Selection | null = null;
  /** Size of the inner area in CSS pixels. */
  protected width = 0;
  protected height = 0;

  constructor(page: Page, options: Options) {
    this.page = page;
    this.options = options;
    this.canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": options.title, id: `${options.id}-canvas` });
    this.tall(options.height);
    this.context = this.canvas.getContext("2d", { willReadFrequently: true })!;
    this.#cross = h("div", { class: "cross" });
    this.#box = h("div", { class: "brush" });
    this.#frame = h("div", { class: "frame" }, this.canvas, this.#cross, this.#box);
    this.caption = h("h3", {}, options.title);
    this.note = h("span", { class: "note" });
    this.buttons = h("span", { class: "tools" },
      this.#button("−", "zoom out", () => this.#zoom(2)), this.#button("+", "zoom in", () => this.#zoom(0.5)),
      this.#button("SVG", "save as SVG", () => this.#saveSvg()),
      this.#button("PNG", "save as PNG", () => saveCanvas(this.canvas, options.id)),
      this.#button("CSV", "save the data as CSV", () => saveCsv(this.rows(), options.id)));
    this.figure = h("figure", { class: "plot", id: options.id },
      h("figcaption", {}, this.caption, this.note, this.buttons), this.#frame);
    this.#listen();
  }

  /** The data of the picture, a header first. */
  protected abstract rows(): (string | number)[][];
  protected abstract draw(): void;
  protected abstract hint(x: number, y: number): Hint | null;
  protected abstract y(): Scale;
  /** What a click means; nothing unless a kind says so. */
  protected click(_x: number, _y: number): void {}
  /** Says what the picture shows to who cannot see it. */
  protected abstract describe(): string;

  protected x(): Scale { return linear(this.page.time(), [0, this.width]); }

  /** Takes so much room, in CSS pixels. Pictures are drawn when they come into sight; nothing must move then. */
  protected tall(height: number): void { this.options.height = height; this.canvas.style.height = `${height}px`; }

  /** Draws soon, once however often it is asked, and only what can be seen. */
  schedule(): void {
    if (this.#pending || !this.#seen) return;
    this.#pending = true;
    requestAnimationFrame(() => {
      this.#pending = false;
      this.#size();
      if (this.width > 0) this.draw();
      // Reading aloud is for when the picture stands still.
      if (!this.page.store.moving) this.canvas.setAttribute("aria-label", `${this.options.title}. ${this.describe()}`);
    });
  }

  /** Draws at once, for printing. */
  now(): void { this.#seen = true; this.#size(); if (this.width > 0) this.draw(); }

  /** Draws once more, with a pen that writes lines and words. */
  #saveSvg(): void {
    const canvas = this.context, pen = new Pen(this.#frame.clientWidth, this.options.height, canvas);
    this.context = pen as unknown as CanvasRenderingContext2D;
    try { this.now(); } finally { this.context = canvas; }
    saveText(pen.text(), "image/svg+xml", `${this.options.id}.svg`);
  }

  /** Shows where a time is that another picture points at. */
  cross(time: number | null): void {
    const at = time === null ? -1 : this.x().at(time);
    const shown = at >= 0 && at <= this.width;
    this.#cross.style.display = shown ? "block" : "none";
    if (shown) this.#cross.style.transform = `translateX(${MARGIN.left + at}px)`;
  }

  #button(text: string, label: string, act: () => void): HTMLElement {
    return h("button", { type: "button", title: label, "aria-label": `${this.options.title}: ${label}`, click: act }, text);
  }

  #size(): void {
    const ratio = devicePixelRatio || 1;
    const wide = this.#frame.clientWidth, high = this.options.height;
    const bottom = this.options.bare ? 6 : MARGIN.bottom;
    this.width = Math.max(0, wide - MARGIN.left - MARGIN.right);
    this.height = high - MARGIN.top - bottom;
    const [w, t] = [Math.round(wide * ratio), Math.round(high * ratio)];
    const isPen = this.context instanceof Pen;
    if (!isPen && (this.canvas.width !== w || this.canvas.height !== t)) {
      this.canvas.width = w; this.canvas.height = t;
      this.#cross.style.height = `${this.height}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.fillStyle = this.page.theme.ground;
    this.context.fillRect(0, 0, wide, high);
    this.context.setTransform(ratio, 0, 0, ratio, MARGIN.left * ratio, MARGIN.top * ratio);
  }

  /** Puts pixels into the inner area. */
  protected picture(image: ImageData): void {
    const ratio = devicePixelRatio || 1;
    this.context.putImageData(image, Math.round(MARGIN.left * ratio), Math.round(MARGIN.top * ratio));
  }

  /** Axes and grid lines. */
  protected axes(unit: "rank" | "bytes" | "seconds" | "share", label: string): void {
    const c = this.context, t = this.page.theme, y = this.y();
    c.font = "11px system-ui, sans-serif";
    c.lineWidth = 1;
    const most = Math.max(2, Math.floor(this.height / 34));
    const [low, high] = [Math.min(...y.domain), Math.max(...y.domain)];
    const { values } = unit === "bytes" ? niceTicks(low, high, most, 1024)
      : unit === "rank" ? niceTicks(low, high - 1, Math.min(most, Math.max(1, high - low)), 10) : y.ticks(most);
    c.textAlign = "right"; c.textBaseline = "middle";
    for (const value of values) {
      if (unit === "rank" && (!Number.isInteger(value) || value >= high)) continue;
      const at = Math.round(y.at(unit === "rank" ? value + 0.5 : value)) + 0.5;
      if (at < -1 || at > this.height + 1) continue;
      c.strokeStyle = t.line; c.beginPath(); c.moveTo(-4, at); c.lineTo(unit === "rank" ? 0 : this.width, at); c.stroke();
      c.fillStyle = t.muted;
      const text = unit === "bytes" ? bytes(value) : unit === "rank" ? count(value) : unit === "share" ? `${Math.round(value * 100)} %` : tick(value, value);
      c.fillText(text, -7, at);
    }
    c.save();
    c.translate(-MARGIN.left + 11, this.height / 2); c.rotate(-Math.PI / 2);
    c.textAlign = "center"; c.fillStyle = t.muted; c.fillText(label, 0, 0);
    c.restore();
    c.strokeStyle = t.line; c.strokeRect(0.5, 0.5, this.width - 1, this.height - 1);
    this.xAxis();
  }

  protected xAxis(): void {
    if (this.options.bare) return;
    const c = this.context, t = this.page.theme, x = this.x();
    const { values, step } = x.ticks(Math.max(2, Math.floor(this.width / 96)));
    c.textBaseline = "top"; c.fillStyle = t.muted; c.strokeStyle = t.line;
    for (const value of values) {
      const at = Math.round(x.at(value)) + 0.5;
      c.beginPath(); c.moveTo(at, this.height); c.lineTo(at, this.height + 4); c.stroke();
      c.textAlign = at < 12 ? "left" : at > this.width - 16 ? "right" : "center";
      c.fillText(this.xText(value, step), at, this.height + 6);
    }
  }

  protected xText(value: number, step: number): string { return tick(value, step); }

  #listen(): void {
    const watch = new IntersectionObserver((entries) => {
      this.#seen = entries.some((entry) => entry.isIntersecting);
      if (this.#seen) this.schedule();
    }, { rootMargin: "80px" });
    watch.observe(this.#frame);
    new ResizeObserver(() => this.schedule()).observe(this.#frame);
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (e) => this.#down(e));
    canvas.addEventListener("pointermove", (e) => this.#move(e));
    canvas.addEventListener("pointerup", (e) => this.#up(e));
    canvas.addEventListener("pointercancel", () => this.#stop());
    canvas.addEventListener("pointerleave", () => { this.page.tip.hide(); this.page.cross(null); });
    // The two clicks before it were no choices.
    canvas.addEventListener("dblclick", () => this.page.reset(this.#before ?? {}));
    canvas.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
    canvas.addEventListener("keydown", (e) => this.#key(e));
    canvas.addEventListener("blur", () => { this.#cursor = null; this.page.tip.hide(); });
  }

  #place(e: MouseEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: e.clientX - box.left - MARGIN.left, y: e.clientY - box.top - MARGIN.top };
  }

  #down(e: PointerEvent): void {
    if (e.button !== 0) return;
    if (e.timeStamp - this.#pressed > TWICE) this.#before = this.page.store.now;
    this.#pressed = e.timeStamp;
    this.canvas.setPointerCapture(e.pointerId);
    this.#drag = { ...this.#place(e), pan: e.shiftKey, from: this.x().domain };
  }

  #move(e: PointerEvent): void {
    const { x, y } = this.#place(e);
    const drag = this.#drag;
    if (drag?.pan) {
      const shift = (drag.from[1] - drag.from[0]) * (drag.x - x) / this.width;
      this.moveX([drag.from[0] + shift, drag.from[1] + shift]);
      return;
    }
    if (drag) { this.#showBrush(drag, x, y); return; }
    const inside = x >= 0 && x <= this.width && y >= 0 && y <= this.height;
    const hint = inside ? this.hint(x, y) : null;
    this.page.tip.show(hint, e.clientX, e.clientY);
    this.page.cross(inside && this.isTime() ? this.x().value(x) : null);
  }

  #showBrush(from: { x: number; y: number }, x: number, y: number): void {
    const clampX = (v: number) => Math.min(this.width, Math.max(0, v));
    const clampY = (v: number) => Math.min(this.height, Math.max(0, v));
    const both = this.options.brush !== "time" && Math.abs(y - from.y) > 6;
    const style = this.#box.style;
    const [x0, x1] = [clampX(Math.min(from.x, x)), clampX(Math.max(from.x, x))];
    const [y0, y1] = both ? [clampY(Math.min(from.y, y)), clampY(Math.max(from.y, y))] : [0, this.height];
    style.display = "block";
    style.left = `${MARGIN.left + x0}px`; style.width = `${x1 - x0}px`;
    style.top = `${MARGIN.top + y0}px`; style.height = `${y1 - y0}px`;
  }

  #stop(): void { this.#drag = null; this.#box.style.display = "none"; }

  #up(e: PointerEvent): void {
    const drag = this.#drag, { x, y } = this.#place(e);
    this.#stop();
    if (!drag || drag.pan) return;
    const [dx, dy] = [Math.abs(x - drag.x), Math.abs(y - drag.y)];
    if (dx < 4 && dy < 4) { this.click(x, y); return; }
    const at = this.x(), up = this.y();
    const across = dx < 4 ? null : [at.value(Math.min(x, drag.x)), at.value(Math.max(x, drag.x))] as const;
    const values = [up.value(Math.max(y, drag.y)), up.value(Math.min(y, drag.y))] as const;
    this.chosen(across, this.options.brush !== "time" && dy > 6 ? values : null);
  }

  /** A brush was drawn. */
  protected chosen(across: readonly [number, number] | null, up: readonly [number, number] | null): void {
    this.page.brush(this.options.brush, across, up);
  }

  /** Pans or zooms along x. */
  protected moveX(range: readonly [number, number]): void { this.page.moveTime(range); }

  /** Whether x is the common time. */
  protected isTime(): boolean { return true; }

  #zoom(factor: number, centre = 0.5): void {
    const [a, b] = this.x().domain, length = (b - a) * factor, at = a + (b - a) * centre;
    this.moveX([at - length * centre, at + length * (1 - centre)]);
  }

  #wheel(e: WheelEvent): void {
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== this.canvas) return;
    e.preventDefault();
    const { x } = this.#place(e);
    this.#zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 150), Math.min(1, Math.max(0, x / this.width)));
  }

  /** Points with the keys, as the pointer does with the hand: what is there is shown and said. */
  #point(dx: number, dy: number): void {
    const from = this.#cursor ?? { x: this.width / 2, y: this.height / 2 };
    const [x, y] = [Math.min(this.width - 1, Math.max(0, from.x + dx)), Math.min(this.height - 1, Math.max(0, from.y + dy))];
    this.#cursor = { x, y };
    const box = this.canvas.getBoundingClientRect();
    this.page.tip.show(this.hint(x, y), box.left + MARGIN.left + x, box.top + MARGIN.top + y, true);
    this.page.cross(this.isTime() ? this.x().value(x) : null);
  }

  #key(e: KeyboardEvent): void {
    const points: Record<string, [number, number]> = { ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, -6], ArrowDown: [0, 6] };
    const move = points[e.key];
    if (e.shiftKey && move) { e.preventDefault(); this.#point(...move); return; }
    if (e.key === "Enter" && this.#cursor) { e.preventDefault(); this.click(this.#cursor.x, this.#cursor.y); return; }
    const [a, b] = this.x().domain, step = (b - a) / 5;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => this.moveX([a - step, b - step]),
      ArrowRight: () => this.moveX([a + step, b + step]),
      ArrowUp: () => this.page.moveRanks(1),
      ArrowDown: () => this.page.moveRanks(-1),
      "+": () => this.#zoom(0.5), "=": () => this.#zoom(0.5), "-": () => this.#zoom(2),
      PageUp: () => this.page.zoomRanks(0.5), PageDown: () => this.page.zoomRanks(2),
      Home: () => this.page.reset(), "0": () => this.page.reset(),
    };
    const act = keys[e.key];
    if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); act(); }
  }
}

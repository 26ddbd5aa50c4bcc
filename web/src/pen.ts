// Draws what a canvas would show into an SVG instead: axes and words stay lines and text, and only
// pixels that were painted by hand become a picture inside. It knows the part of a canvas' means
// that the pictures use.

import { svg } from "./element";

interface State { x: number; y: number; turn: number; fill: string; stroke: string; width: number; alpha: number }

export class Pen {
  readonly #root: SVGElement;
  readonly #measure: CanvasRenderingContext2D;
  #path = "";
  #state: State = { x: 0, y: 0, turn: 0, fill: "#000", stroke: "#000", width: 1, alpha: 1 };
  #saved: State[] = [];
  font = "11px sans-serif";
  textAlign: CanvasTextAlign = "left";
  textBaseline: CanvasTextBaseline = "alphabetic";
  fillStyle = "#000"; strokeStyle = "#000"; lineWidth = 1; globalAlpha = 1;

  constructor(wide: number, high: number, measure: CanvasRenderingContext2D) {
    this.#root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high });
    this.#measure = measure;
  }

  text(): string { return new XMLSerializer().serializeToString(this.#root); }

  #add(name: string, attributes: Record<string, string | number>, text?: string): void {
    const { x, y, turn } = this.#state, move = x === 0 && y === 0 && turn === 0 ? {} : { transform: `translate(${x} ${y})${turn ? ` rotate(${turn * 180 / Math.PI})` : ""}` };
    this.#root.append(svg(name, { ...attributes, ...move, ...(this.globalAlpha < 1 ? { opacity: this.globalAlpha } : {}) }, text));
  }

  save(): void { this.#saved.push({ ...this.#state, fill: this.fillStyle, stroke: this.strokeStyle, width: this.lineWidth, alpha: this.globalAlpha }); }
  restore(): void {
    const back = this.#saved.pop();
    if (back) { this.#state = back; this.fillStyle = back.fill; this.strokeStyle = back.stroke; this.lineWidth = back.width; this.globalAlpha = back.alpha; }
  }
  /** Scales are left out: an SVG has no device pixels. */
  setTransform(a: number, _b: number, _c: number, _d: number, e: number, f: number): void { this.#state = { ...this.#state, x: e / a, y: f / a, turn: 0 }; }
  translate(x: number, y: number): void { this.#state = { ...this.#state, x: this.#state.x + x, y: this.#state.y + y }; }
  rotate(turn: number): void { this.#state = { ...this.#state, turn: this.#state.turn + turn }; }

  beginPath(): void { this.#path = ""; }
  moveTo(x: number, y: number): void { this.#path += `M${x} ${y}`; }
  lineTo(x: number, y: number): void { this.#path += `L${x} ${y}`; }
  rect(x: number, y: number, w: number, t: number): void { this.#path += `M${x} ${y}h${w}v${t}h${-w}z`; }
  stroke(): void { if (this.#path) this.#add("path", { d: this.#path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); }
  fill(): void { if (this.#path) this.#add("path", { d: this.#path, fill: this.fillStyle }); }
  fillRect(x: number, y: number, width: number, height: number): void { this.#add("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), fill: this.fillStyle }); }
  strokeRect(x: number, y: number, width: number, height: number): void { this.#add("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); }

  measureText(text: string): TextMetrics { this.#measure.font = this.font; return this.#measure.measureText(text); }
  fillText(text: string, x: number, y: number): void {
    const anchor = this.textAlign === "right" ? "end" : this.textAlign === "center" ? "middle" : "start";
    const down = this.textBaseline === "middle" ? 4 : this.textBaseline === "top" ? 10 : 0;
    this.#add("text", { x, y: y + down, "text-anchor": anchor, "font-size": 11, "font-family": "sans-serif", fill: this.fillStyle }, text);
  }

  createImageData(wide: number, high: number): ImageData { return new ImageData(wide, high); }
  putImageData(image: ImageData, x: number, y: number): void {
    const canvas = document.createElement("canvas"), ratio = devicePixelRatio || 1;
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d")!.putImageData(image, 0, 0);
    // Pixels are placed by the device, as a canvas does, whatever the transformation is.
    const state = this.#state;
    this.#state = { ...state, x: 0, y: 0, turn: 0 };
    this.#add("image", { href: canvas.toDataURL("image/png"), x: x / ratio, y: y / ratio, width: image.width / ratio, height: image.height / ratio });
    this.#state = state;
  }
}

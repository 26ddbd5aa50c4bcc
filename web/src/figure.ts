// A small chart as SVG with its caption, key and tools. Few enough shapes to be elements, so they
// print, are read aloud, and can be saved as they are.

import { h, svg } from "./element";
import { saveCsv, savePicture, saveSvg } from "./save";

export interface Series { name: string; class: string; values: number[] }

export interface Chart {
  id: string; title: string; note: string;
  labels: string[]; series: Series[];
  text: (value: number) => string;
  /** Bars that stand out. */
  lit?: (at: number) => boolean;
  /** A line across all bars, with its meaning. */
  level?: { value: number; text: string };
  logarithmic?: boolean;
  /** The axis reaches at least so far. */
  atLeast?: number;
  /** Words under the axis. */
  axis?: string;
}

export const WIDE = 560, HIGH = 190, LEFT = 66, BOTTOM = 34, TOP = 10;

/** A value as a length, from nothing to `room`. */
export function lengths(chart: Chart, room: number): { most: number; tall: (value: number) => number } {
  let most = Math.max(chart.logarithmic ? 10 : 1e-12, chart.level?.value ?? 0, chart.atLeast ?? 0);
  for (const series of chart.series) for (const value of series.values) if (value > most) most = value;
  // Logarithmic charts count things: one of them is a low bar, none is no bar.
  const floor = 0.6;
  const tall = (value: number) => {
    if (!(value > 0)) return 0;
    const share = chart.logarithmic ? Math.log(Math.max(value, floor * 1.1) / floor) / Math.log(most / floor) : value / most;
    return Math.max(1.5, share * room);
  };
  return { most, tall };
}

/** An empty drawing with the lines and words of the axis on its left. */
export function ruled(chart: Chart, most: number, tall: (value: number) => number): SVGElement {
  const ground = HIGH - BOTTOM, drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": spoken(chart) });
  const decades = Math.floor(Math.log10(most)), half = 10 ** Math.round(decades / 2);
  // Half of an odd number of things is no number of things.
  const linear = Number.isInteger(most) && !Number.isInteger(most / 2) ? [0, most] : [0, most / 2, most];
  for (const value of chart.logarithmic ? [...new Set([1, half, 10 ** decades])] : linear) {
    const y = ground - tall(value);
    drawing.append(svg("line", { class: "rule", x1: LEFT, x2: WIDE - 4, y1: y, y2: y }),
      svg("text", { class: "tick", x: LEFT - 6, y: y + 3.5, "text-anchor": "end" }, value === 0 ? "0" : chart.text(value)));
  }
  if (chart.axis) drawing.append(svg("text", { class: "tick", x: (WIDE + LEFT) / 2, y: HIGH - 4, "text-anchor": "middle" }, chart.axis));
  return drawing;
}

/** The line across all bars, over them. */
export function levelled(chart: Chart, drawing: SVGElement, tall: (value: number) => number): void {
  if (!chart.level || chart.level.value <= 0) return;
  const y = HIGH - BOTTOM - tall(chart.level.value);
  drawing.append(svg("line", { class: "level", x1: LEFT, x2: WIDE - 4, y1: y, y2: y }),
    svg("text", { class: "tick halo", x: WIDE - 6, y: Math.max(11, y - 4), "text-anchor": "end" }, chart.level.text));
}

/** Every how many places of an axis there is room for words. */
export function leftOut(labels: string[]): number {
  const longest = Math.max(0, ...labels.map((label) => label.length));
  return Math.max(1, Math.ceil(labels.length * Math.max(40, longest * 6.4 + 4) / (WIDE - LEFT)));
}

/** Words under some of the places of an axis, as many as there is room for. */
export function labelled(drawing: SVGElement, labels: string[]): void {
  const step = (WIDE - LEFT - 6) / Math.max(1, labels.length), every = leftOut(labels);
  labels.forEach((label, at) => {
    if (at % every === 0) drawing.append(svg("text", { class: "tick", x: LEFT + (at + 0.5) * step, y: HIGH - BOTTOM + 14, "text-anchor": "middle" }, label));
  });
}

/** What a chart shows, for who cannot see it: what it is, and its largest value. */
function spoken(chart: Chart): string {
  const tops = chart.series.slice(0, 5).map((series) => {
    let at = 0;
    series.values.forEach((value, i) => { if (value > series.values[at]!) at = i; });
    return series.values.length > 0 ? `${series.name}: most ${chart.text(series.values[at]!)} at ${chart.labels[at]}` : "";
  });
  return [chart.title, chart.note, ...tops].filter(Boolean).join(". ");
}

/** The chart in its frame. */
export function framed(chart: Chart, drawing: SVGElement): HTMLElement {
  const key = chart.series.length > 1 ? chart.series.map((s) => h("span", { class: "key" }, h("i", { class: s.class }), s.name)) : [];
  const rows = () => [["", ...chart.series.map((s) => s.name)], ...chart.labels.map((l, at) => [l, ...chart.series.map((s) => s.values[at] ?? 0)])];
  const tool = (text: string, label: string, act: () => void) => h("button", { type: "button", "aria-label": `${chart.title}: ${label}`, click: act }, text);
  const tools = h("span", { class: "tools" }, tool("SVG", "save as SVG", () => saveSvg(drawing, chart.id)),
    tool("PNG", "save as PNG", () => savePicture(drawing, chart.id)), tool("CSV", "save the data as CSV", () => saveCsv(rows(), chart.id)));
  return h("figure", { class: "chart", id: chart.id }, h("figcaption", {}, h("h3", {}, chart.title), h("span", { class: "note" }, chart.note), ...key, tools), drawing);
}

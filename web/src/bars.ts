// Bars beside each other, as SVG: few enough to be elements, so they print and are read aloud.

import { h, svg } from "./element";
import { saveCsv, saveSvg } from "./save";

export interface Series { name: string; class: string; values: number[] }

export interface Bars {
  id: string; title: string; note: string;
  labels: string[]; series: Series[];
  text: (value: number) => string;
  /** Bars that stand out. */
  lit?: (at: number) => boolean;
  /** A line across all bars, with its meaning. */
  level?: { value: number; text: string };
  logarithmic?: boolean;
  /** Words under the axis. */
  axis?: string;
}

const WIDE = 560, HIGH = 190, LEFT = 66, BOTTOM = 34, TOP = 10;

export function bars(chart: Bars): HTMLElement {
  const most = Math.max(chart.logarithmic ? 10 : 1e-12, ...chart.series.flatMap((s) => s.values), chart.level?.value ?? 0);
  // Logarithmic charts count things: one of them is a low bar, none is no bar.
  const floor = chart.logarithmic ? 0.6 : 0;
  const tall = (value: number) => {
    if (!(value > 0)) return 0;
    const share = chart.logarithmic ? Math.log(value / floor) / Math.log(most / floor) : value / most;
    return Math.max(1.5, share * (HIGH - TOP - BOTTOM));
  };
  const ground = HIGH - BOTTOM, step = (WIDE - LEFT - 6) / Math.max(1, chart.labels.length);
  const each = Math.max(0.6, step * 0.8 / Math.max(1, chart.series.length));
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `${chart.title}. ${chart.note}` });
  const decades = Math.floor(Math.log10(most)), half = 10 ** Math.round(decades / 2);
  for (const value of chart.logarithmic ? [...new Set([1, half, 10 ** decades])] : [0, most / 2, most]) {
    const y = ground - tall(value);
    drawing.append(svg("line", { class: "rule", x1: LEFT, x2: WIDE - 4, y1: y, y2: y }),
      svg("text", { class: "tick", x: LEFT - 6, y: y + 3.5, "text-anchor": "end" }, value === 0 ? "0" : chart.text(value)));
  }
  const every = Math.max(1, Math.ceil(chart.labels.length * 46 / (WIDE - LEFT)));
  chart.labels.forEach((label, at) => {
    const left = LEFT + at * step + step * 0.1;
    chart.series.forEach((series, of) => {
      const value = series.values[at] ?? 0, long = tall(value);
      if (long <= 0) return;
      const lit = chart.lit === undefined || chart.lit(at) ? "" : " dim";
      drawing.append(svg("rect", { class: `bar ${series.class}${lit}`, x: left + of * each, y: ground - long, width: Math.max(0.6, each - (each > 4 ? 1 : 0)), height: long },
        svg("title", {}, `${label}: ${series.name} ${chart.text(value)}`)));
    });
    if (at % every === 0) drawing.append(svg("text", { class: "tick", x: left + step * 0.4, y: ground + 14, "text-anchor": "middle" }, label));
  });
  if (chart.axis) drawing.append(svg("text", { class: "tick", x: (WIDE + LEFT) / 2, y: HIGH - 4, "text-anchor": "middle" }, chart.axis));
  if (chart.level && chart.level.value > 0) {
    const y = ground - tall(chart.level.value);
    drawing.append(svg("line", { class: "level", x1: LEFT, x2: WIDE - 4, y1: y, y2: y }),
      svg("text", { class: "tick halo", x: WIDE - 6, y: y - 4, "text-anchor": "end" }, chart.level.text));
  }
  const key = chart.series.length > 1 ? chart.series.map((s) => h("span", { class: "key" }, h("i", { class: s.class }), s.name)) : [];
  const rows = () => [["", ...chart.series.map((s) => s.name)], ...chart.labels.map((l, at) => [l, ...chart.series.map((s) => s.values[at] ?? 0)])];
  const tools = h("span", { class: "tools" },
    h("button", { type: "button", "aria-label": `${chart.title}: save as SVG`, click: () => saveSvg(drawing, chart.id) }, "SVG"),
    h("button", { type: "button", "aria-label": `${chart.title}: save the data as CSV`, click: () => saveCsv(rows(), chart.id) }, "CSV"));
  return h("figure", { class: "chart", id: chart.id }, h("figcaption", {}, h("h3", {}, chart.title), h("span", { class: "note" }, chart.note), ...key, tools), drawing);
}

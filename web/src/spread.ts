// Distributions as boxes (least, quartiles, most), and two numbers against each other as points.

import { svg } from "./element";
import { BOTTOM, type Chart, HIGH, LEFT, TOP, WIDE, framed, labelled, lengths, ruled } from "./figure";
import { niceTicks } from "./scale";

/** The five series of a chart are the least, the quartiles and the most. */
export function boxes(chart: Chart): HTMLElement {
  const ground = HIGH - BOTTOM, { most, tall } = lengths(chart, HIGH - TOP - BOTTOM), drawing = ruled(chart, most, tall);
  const step = (WIDE - LEFT - 6) / Math.max(1, chart.labels.length), wide = Math.max(1, Math.min(18, step * 0.7));
  chart.labels.forEach((label, at) => {
    const [least, low, middle, high, top] = chart.series.map((series) => ground - tall(series.values[at] ?? 0)) as [number, number, number, number, number];
    const x = LEFT + (at + 0.5) * step, says = `${label}: ${chart.series.map((series) => `${series.name} ${chart.text(series.values[at] ?? 0)}`).join(", ")}`;
    const dim = chart.lit === undefined || chart.lit(at) ? "" : " dim";
    drawing.append(svg("g", { class: `box${dim}` }, svg("title", {}, says),
      svg("line", { class: "whisker", x1: x, x2: x, y1: top, y2: least }),
      svg("rect", { class: "bar plain", x: x - wide / 2, y: high, width: wide, height: Math.max(1, low - high) }),
      svg("line", { class: "middle", x1: x - wide / 2, x2: x + wide / 2, y1: middle, y2: middle })));
  });
  labelled(drawing, chart.labels);
  // A key of five lines that look alike would explain nothing.
  const shown = framed({ ...chart, series: [] }, drawing);
  return shown;
}

/** The labels are numbers: how far right a point stands. */
export function points(chart: Chart, xText: (value: number) => string): HTMLElement {
  const ground = HIGH - BOTTOM, { most, tall } = lengths(chart, HIGH - TOP - BOTTOM), drawing = ruled(chart, most, tall);
  const across = chart.labels.map(Number), right = Math.max(1e-12, ...across), scale = (WIDE - LEFT - 14) / right;
  for (const value of niceTicks(0, right, 5, 10).values) drawing.append(svg("text", { class: "tick", x: LEFT + value * scale, y: ground + 14, "text-anchor": "middle" }, xText(value)));
  chart.series.forEach((series) => series.values.forEach((value, at) => {
    const lit = chart.lit === undefined || chart.lit(at) ? "" : " dim";
    drawing.append(svg("circle", { class: `bar ${series.class}${lit}`, cx: LEFT + across[at]! * scale, cy: ground - tall(value), r: 2.6 }, svg("title", {}, `${xText(across[at]!)}: ${series.name} ${chart.text(value)}`)));
  }));
  return framed(chart, drawing);
}

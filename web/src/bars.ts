// Bars: upright over numbers and short names, lying where names are long.

import { svg } from "./element";
import { BOTTOM, type Chart, HIGH, LEFT, TOP, WIDE, framed, labelled, leftOut, lengths, levelled, ruled } from "./figure";

export function bars(chart: Chart): HTMLElement {
  const longest = Math.max(0, ...chart.labels.map((label) => label.length));
  // Numbers and ranges of them can be read where some are left out; a bar without its name cannot.
  const named = chart.labels.filter((label) => /^\p{Letter}/u.test(label)).length * 2 > chart.labels.length;
  return longest > 9 || named && leftOut(chart.labels) > 1 ? lying(chart) : upright(chart);
}

function shade(chart: Chart, series: string, at: number): string {
  return `bar ${series}${chart.lit === undefined || chart.lit(at) ? "" : " dim"}`;
}

/** A single bar is no wall. */
const WIDEST = 44;

function upright(chart: Chart): HTMLElement {
  const ground = HIGH - BOTTOM, { most, tall } = lengths(chart, HIGH - TOP - BOTTOM), drawing = ruled(chart, most, tall);
  const step = (WIDE - LEFT - 6) / Math.max(1, chart.labels.length), each = Math.max(0.6, Math.min(WIDEST, step * 0.8 / Math.max(1, chart.series.length))), group = each * chart.series.length;
  chart.labels.forEach((label, at) => chart.series.forEach((series, of) => {
    const value = series.values[at] ?? 0, long = tall(value);
    if (long <= 0) return;
    drawing.append(svg("rect", { class: shade(chart, series.class, at), x: LEFT + (at + 0.5) * step - group / 2 + of * each, y: ground - long, width: Math.max(0.6, each - (each > 4 ? 1 : 0)), height: long },
      svg("title", {}, `${label}: ${series.name} ${chart.text(value)}`)));
  }));
  levelled(chart, drawing, tall);
  labelled(drawing, chart.labels);
  return framed(chart, drawing);
}

const VALUE = 74, THIN = 12, LONGEST = 36;

function lying(chart: Chart): HTMLElement {
  const rows = chart.labels.length, each = Math.max(16, chart.series.length * THIN + 5), high = rows * each + 6;
  // Names take the room that they need, up to less than half.
  const longest = Math.max(0, ...chart.labels.map((label) => Math.min(LONGEST, label.length))), wide = Math.max(110, longest * 6.6 + 14);
  const { tall } = lengths(chart, WIDE - wide - VALUE);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${high}`, role: "img", "aria-label": [chart.title, chart.note, ...chart.labels.map((label, at) => `${label}: ${chart.series.map((s) => chart.text(s.values[at] ?? 0)).join(", ")}`)].filter(Boolean).join(". ") });
  chart.labels.forEach((label, at) => {
    const top = 3 + at * each, short = label.length > LONGEST ? `…${label.slice(1 - LONGEST)}` : label;
    drawing.append(svg("text", { class: "tick name", x: wide - 6, y: top + each / 2 + 3, "text-anchor": "end" }, short, svg("title", {}, label)));
    chart.series.forEach((series, of) => {
      const value = series.values[at] ?? 0, long = tall(value), y = top + 2 + of * THIN;
      if (long > 0) drawing.append(svg("rect", { class: shade(chart, series.class, at), x: wide, y, width: long, height: chart.series.length > 1 ? THIN - 1 : each - 5 }, svg("title", {}, `${label}: ${series.name} ${chart.text(value)}`)));
      if (value > 0) drawing.append(svg("text", { class: "tick", x: wide + long + 5, y: chart.series.length > 1 ? y + 9 : top + each / 2 + 3 }, chart.text(value)));
    });
  });
  return framed(chart, drawing);
}

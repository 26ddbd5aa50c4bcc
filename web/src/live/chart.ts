// Small pictures of many runs: a row of dots along a scale, bars over time, dots over the hours of a day. Drawn with
// SVG, because each dot is a link.

import { h, svg } from "../element";

export interface Dot { value: number; says: string; href: string; lit: boolean; odd: boolean }

const WIDE = 560, TALL = 46, EDGE = 10;

/** Where dots of like values are put so that they do not hide each other: rows up and down from the middle. */
function rows(places: readonly number[]): number[] {
  const last: number[] = [];
  return places.map((place) => {
    let row = last.findIndex((end) => place - end >= 7);
    if (row < 0) row = last.length < 5 ? last.length : places.length % 5;
    last[row] = place;
    return row;
  });
}

/** One value of each run along a scale, with the middle half shaded. */
export function strip(title: string, dots: readonly Dot[], text: (value: number) => string): HTMLElement {
  const sorted = [...dots].sort((a, b) => a.value - b.value), values = sorted.map((one) => one.value);
  const least = values[0] ?? 0, most = values.at(-1) ?? 1, span = most - least || 1;
  // Where all are alike, they stand in the middle.
  const x = (value: number) => most === least ? WIDE / 2 : EDGE + (value - least) / span * (WIDE - 2 * EDGE);
  const quantile = (share: number) => values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0;
  const lanes = rows(sorted.map((one) => x(one.value)));
  const y = (lane: number) => TALL / 2 + (lane % 2 === 0 ? -1 : 1) * Math.ceil(lane / 2) * 7;
  const marks = sorted.map((one, at) => svg("a", { href: one.href, tabindex: one.lit || one.odd ? 0 : -1 },
    svg("circle", { cx: x(one.value).toFixed(1), cy: y(lanes[at]!), r: one.lit ? 6 : 3.5, class: `dot${one.lit ? " lit" : ""}${one.odd ? " odd" : ""}` }, svg("title", {}, one.says))));
  // What is looked at lies over the others.
  marks.sort((a, b) => Number(a.querySelector(".lit") !== null) - Number(b.querySelector(".lit") !== null));
  const [low, high] = [x(quantile(0.25)), x(quantile(0.75))];
  return h("figure", { class: "strip-chart" }, h("figcaption", {}, h("b", {}, title), h("span", { class: "muted" }, ` ${text(least)} – ${text(most)}, half below ${text(quantile(0.5))}`)),
    svg("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, role: "img", "aria-label": `${title}: ${dots.length} runs from ${text(least)} to ${text(most)}` },
      svg("rect", { x: low.toFixed(1), y: 4, width: Math.max(2, high - low).toFixed(1), height: TALL - 8, class: "middle" }),
      svg("line", { x1: x(quantile(0.5)).toFixed(1), x2: x(quantile(0.5)).toFixed(1), y1: 2, y2: TALL - 2, class: "median" }), ...marks) as unknown as HTMLElement);
}

/** Values over the hours of a day. */
export function daytime(title: string, dots: readonly (Dot & { hour: number })[], text: (value: number) => string): HTMLElement {
  const tall = 120, ground = tall - 18, most = Math.max(1e-9, ...dots.map((one) => one.value));
  const x = (hour: number) => EDGE + (hour + 0.5) / 24 * (WIDE - 2 * EDGE), y = (value: number) => ground - value / most * (ground - 8);
  const marks = dots.map((one) => svg("a", { href: one.href, tabindex: -1 }, svg("circle", { cx: x(one.hour).toFixed(1), cy: y(one.value).toFixed(1), r: one.lit ? 6 : 3.5, class: `dot${one.lit ? " lit" : ""}${one.odd ? " odd" : ""}` }, svg("title", {}, one.says))));
  const ticks = [0, 6, 12, 18].map((hour) => svg("text", { x: x(hour).toFixed(1), y: tall - 4, class: "tick" }, `${hour} h`));
  return h("figure", { class: "strip-chart" }, h("figcaption", {}, h("b", {}, title), h("span", { class: "muted" }, ` up to ${text(most)}`)),
    svg("svg", { viewBox: `0 0 ${WIDE} ${tall}`, role: "img", "aria-label": `${title}, ${dots.length} runs` }, svg("line", { x1: EDGE, x2: WIDE - EDGE, y1: ground, y2: ground, class: "axis" }), ...ticks, ...marks) as unknown as HTMLElement);
}

export interface Bar { at: number; parts: { kind: "read" | "write"; value: number }[]; says: string }

/** Stacked bars over time. */
export function bars(title: string, list: readonly Bar[], { from, to, width }: { from: number; to: number; width: number }, text: (value: number) => string, label: (at: number) => string): HTMLElement {
  // A narrow window gets a smaller picture instead of smaller words.
  const wide = Math.max(380, Math.min(1100, innerWidth - 40)), tall = 150, ground = tall - 18, sum = (bar: Bar) => bar.parts.reduce((all, part) => all + part.value, 0);
  const most = Math.max(1, ...list.map(sum)), begin = Math.floor(from / width) * width, end = Math.max(begin + width, Math.ceil(to / width) * width);
  const x = (at: number) => (at - begin) / (end - begin) * wide, each = Math.max(1.5, width / (end - begin) * wide - 1);
  const marks = list.flatMap((bar) => {
    let below = 0;
    return bar.parts.map((part) => {
      const high = part.value / most * (ground - 6), top = ground - below - high;
      below += high;
      return svg("rect", { x: x(bar.at).toFixed(1), y: top.toFixed(1), width: each.toFixed(1), height: Math.max(part.value > 0 ? 1 : 0, high).toFixed(1), class: `bar-${part.kind}` }, svg("title", {}, bar.says));
    });
  });
  const steps = wide < 700 ? 3 : 6, ticks = Array.from({ length: steps }, (_, at) => begin + (end - begin) * at / steps).map((at) => svg("text", { x: (x(at) + 2).toFixed(1), y: tall - 4, class: "tick start" }, label(at)));
  return h("figure", { class: "strip-chart wide" }, h("figcaption", {}, h("b", {}, title), h("span", { class: "muted" }, ` up to ${text(most)}; reads blue, writes orange`)),
    svg("svg", { viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `${title}: ${list.length} steps` }, svg("line", { x1: 0, x2: wide, y1: ground, y2: ground, class: "axis" }), ...ticks, ...marks) as unknown as HTMLElement);
}

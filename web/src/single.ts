// The page of one report: its parts and how they stand.

import type { Page } from "./page";
import { Findings } from "./findings";
import { Heat, rankHeight } from "./heat";
import { NodeStrips, ServerStrips, TargetStrips } from "./strips";
import { Raster, legend } from "./raster";
import { Tables } from "./tables";
import { Timeline } from "./timeline";
import { Views } from "./views";
import { chips } from "./chips";
import { h, renew } from "./element";
import { head, verdict } from "./head";

export function single(page: Page): HTMLElement[] {
  const { report } = page;
  if (report.layers.length === 0 && report.timeline.lanes.length === 0) return [head(page), verdict(page), idle()];
  const timeline = new Timeline(page), heat = new Heat(page), calls = operations(page);
  const targets = report.targets.flatMap((one) => one.servers ? [new TargetStrips(page, one), new ServerStrips(page, one)] : [new TargetStrips(page, one)]);
  const strips = [...targets, ...(report.nodes ? [new NodeStrips(page, report.nodes)] : [])];
  page.plots.push(timeline, heat, ...calls.plots, ...strips);
  return [head(page), verdict(page),
    h("div", { class: "panes" }, new Findings(page).node,
      h("div", { class: "views" }, chips(page), timeline.figure, heat.figure, calls.node, ...strips.map((one) => one.figure), new Views(page).node)),
    new Tables(page).node];
}

/** In place of pictures where there is nothing to draw. */
function idle(): HTMLElement {
  return h("section", { class: "absent" }, h("h3", {}, "No I/O was recorded"),
    h("p", {}, "No process of this job opened, read or wrote a file that was looked at. A program that is linked statically, or that was started without the library, leaves such a log too."));
}

/** The pictures of single calls; without a trace a sentence says what is missing. */
function operations(page: Page): { node: HTMLElement; plots: Raster[] } {
  if (page.marks.count === 0) {
    return { plots: [], node: h("section", { class: "absent" }, h("h3", {}, "Single calls"),
      h("p", {}, "This job was not traced, so there are no pictures of single calls, offsets and durations. Darshan traces with DXT_ENABLE_IO_TRACE=1, netra run traces by itself.")) };
  }
  const plots = callsByRank(page);
  plots.push(
    new Raster(page, "offsets", null, { id: page.id("offsets"), title: "Offsets over time", height: 250, brush: "offset" }),
    new Raster(page, "durations", null, { id: page.id("durations"), title: "Durations over time", height: 190, brush: "time" }),
    new Raster(page, "places", null, { id: page.id("places"), title: "Offsets by rank", height: rankHeight(page, 220), brush: "ranks" }));
  return { plots, node: h("section", { class: "calls", "aria-label": "Single calls" }, colours(page), ...plots.map((plot) => plot.figure)) };
}

/** A picture for each layer, outermost above, on one axis of time. */
export function callsByRank(page: Page): Raster[] {
  const layers = page.marks.present();
  return layers.map((layer, at) => new Raster(page, "ranks", layer, { id: page.id(`calls-${layer.toLowerCase()}`), title: `Calls, ${layer}`, height: rankHeight(page, layers.length > 1 ? 190 : 260), brush: "ranks", bare: at + 1 < layers.length }));
}

/** How calls are coloured, which way they go, and what the colours mean. */
export function colours(page: Page): HTMLElement {
  const bar = h("div", { class: "legend" });
  const update = () => {
    const now = page.store.now;
    const choice = (label: string, on: boolean, act: () => void) => h("button", { type: "button", "aria-pressed": String(on), click: act }, label);
    const group = (label: string, word: string, ...buttons: HTMLElement[]) => h("span", { class: "choice", role: "group", "aria-label": label }, h("span", { class: "muted" }, `${word} `), ...buttons);
    const swatch = legend(page).map(({ text, colour }) => { const box = h("i", {}); box.style.background = page.theme.css(colour); return h("span", { class: "key" }, box, text); });
    renew(bar, h("h2", {}, "Single calls"),
      group("colour", "colour", choice("read, write", now.colour === "way", () => page.store.choose({ colour: "way" })), choice("size", now.colour === "size", () => page.store.choose({ colour: "size" })), choice("rank", now.colour === "rank", () => page.store.choose({ colour: "rank" }))),
      h("span", { class: "keys" }, ...swatch),
      group("direction", "show", choice("both", now.way === null, () => page.store.choose({ way: null })), choice("reads", now.way === "read", () => page.store.choose({ way: "read" })), choice("writes", now.way === "write", () => page.store.choose({ way: "write" }))),
      page.conflicts.count > 0 ? group("conflicts", "", choice("conflicts", now.conflicts, () => page.store.choose({ conflicts: !now.conflicts }))) : "");
  };
  page.store.listen(update);
  page.onFeed(update);
  new MutationObserver(update).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  update();
  return bar;
}

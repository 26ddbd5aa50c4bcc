// Starts the page: unpacks the report and puts its parts together.

import type { Report } from "./model";
import { Charts } from "./charts";
import { Columns, inflate } from "./column";
import { Findings } from "./findings";
import { Heat, rankHeight } from "./heat";
import { Page } from "./page";
import { Raster, legend } from "./raster";
import { Tables } from "./tables";
import { Timeline } from "./timeline";
import { chips, cleared } from "./chips";
import { h } from "./element";
import { head, verdict } from "./head";
import { initTheme } from "./theme";

function text(id: string): string { return document.getElementById(id)?.textContent ?? ""; }

async function start(): Promise<void> {
  initTheme();
  const report = JSON.parse(text("report")) as Report;
  const page = new Page(report, new Columns(await inflate(text("detail")), report.columns));
  const timeline = new Timeline(page), heat = new Heat(page), calls = operations(page);
  page.plots.push(timeline, heat, ...calls.plots);
  const main = document.querySelector("main")!;
  main.replaceChildren(
    head(page), verdict(page),
    h("div", { class: "panes" }, new Findings(page).node,
      h("div", { class: "views" }, chips(page), timeline.figure, heat.figure, calls.node, new Charts(page).node)),
    new Tables(page).node,
    h("footer", {}, `netra ${report.netra}. This page is one file: it loads nothing and sends nothing. Keys on a picture: arrows move, + and − zoom, 0 shows all, Page Up and Page Down zoom ranks; u undoes, Esc shows everything.`));
  document.body.append(page.tip.node);
  keys(page);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.repaint());
  addEventListener("beforeprint", () => { for (const plot of page.plots) plot.now(); });
  document.documentElement.dataset["ready"] = "true";
}

/** The pictures of single calls; without a trace a sentence says what is missing. */
function operations(page: Page): { node: HTMLElement; plots: Raster[] } {
  const { report } = page;
  if (page.marks.count === 0) {
    return { plots: [], node: h("section", { class: "absent" }, h("h3", {}, "Single calls"),
      h("p", {}, "This job was not traced, so there are no pictures of single calls, offsets and durations. Darshan traces with DXT_ENABLE_IO_TRACE=1, netra run traces by itself.")) };
  }
  const layers = ["MPI-IO", "POSIX"].filter((layer) => report.timeline.lanes.some((lane) => lane.layer === layer && lane.basis === "traced"));
  const plots = layers.map((layer, at) => new Raster(page, "ranks", layer, { id: `calls-${layer.toLowerCase()}`, title: `Calls, ${layer}`, height: rankHeight(page, layers.length > 1 ? 190 : 260), brush: "ranks", bare: at + 1 < layers.length }));
  plots.push(
    new Raster(page, "offsets", null, { id: "offsets", title: "Offsets over time", height: 250, brush: "offset" }),
    new Raster(page, "durations", null, { id: "durations", title: "Durations over time", height: 190, brush: "time" }),
    new Raster(page, "places", null, { id: "places", title: "Offsets by rank", height: rankHeight(page, 220), brush: "ranks" }));
  const bar = colours(page);
  return { plots, node: h("section", { class: "calls", "aria-label": "Single calls" }, bar, ...plots.map((plot) => plot.figure)) };
}

/** How calls are coloured, which way they go, and what the colours mean. */
function colours(page: Page): HTMLElement {
  const bar = h("div", { class: "legend" });
  const update = () => {
    const now = page.store.now;
    const choice = (label: string, on: boolean, act: () => void) => h("button", { type: "button", "aria-pressed": String(on), click: act }, label);
    const swatch = legend(page).map(({ text, colour }) => { const box = h("i", {}); box.style.background = page.theme.css(colour); return h("span", { class: "key" }, box, text); });
    bar.replaceChildren(h("h2", {}, "Single calls"),
      h("span", { class: "choice", role: "group", "aria-label": "colour" }, h("span", { class: "muted" }, "colour "), choice("read, write", now.colour === "way", () => page.store.choose({ colour: "way" })), choice("size", now.colour === "size", () => page.store.choose({ colour: "size" })), choice("rank", now.colour === "rank", () => page.store.choose({ colour: "rank" }))),
      h("span", { class: "keys" }, ...swatch),
      h("span", { class: "choice", role: "group", "aria-label": "direction" }, h("span", { class: "muted" }, "show "), choice("both", now.way === null, () => page.store.choose({ way: null })), choice("reads", now.way === "read", () => page.store.choose({ way: "read" })), choice("writes", now.way === "write", () => page.store.choose({ way: "write" }))));
  };
  page.store.listen(update);
  new MutationObserver(update).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  update();
  return bar;
}

function keys(page: Page): void {
  addEventListener("keydown", (e) => {
    if (e.target instanceof HTMLInputElement || e.ctrlKey && e.key !== "z" || e.metaKey || e.altKey) return;
    if (e.key === "Escape") page.store.choose(cleared());
    else if (e.key === "u" || e.ctrlKey && e.key === "z") { e.preventDefault(); page.store.undo(); }
  });
}

start().catch((error: unknown) => {
  const says = error instanceof Error ? error.message : String(error);
  document.querySelector("main")?.prepend(h("p", { class: "broken" }, `The pictures cannot be shown: ${says}.`));
  throw error;
});

// What is chosen, as chips under the top of the window: each can be taken away, and all undone.

import type { Page } from "./page";
import type { Selection } from "./selection";
import { NOTHING } from "./selection";
import { filters } from "./filters";
import { h, renew } from "./element";
import { bytes, count, plural, seconds, shortPath } from "./format";

export function chips(page: Page, withFilters = true): HTMLElement {
  const list = h("div", { class: "list", role: "status", "aria-live": "polite" });
  const undo = h("button", { type: "button", class: "quiet", title: "undo (u)", click: () => page.store.undo() }, "↶ undo");
  const clear = h("button", { type: "button", class: "quiet", title: "show everything (Esc)", click: () => page.store.choose(cleared()) }, "show everything");
  const bar = h("nav", { class: "chips", "aria-label": "Selection" }, list, withFilters ? filters(page) : null, undo, clear);
  const update = () => {
    const now = page.store.now, chosen = describe(page, now);
    bar.classList.toggle("empty", chosen.length === 0);
    clear.hidden = chosen.length === 0;
    renew(list, ...(chosen.length === 0 ? [h("span", { class: "muted" }, hint())] : chosen.map(([text, change]) =>
      h("button", { type: "button", class: "chip", "aria-label": `${text}: remove`, click: () => page.store.choose(change) }, text, h("span", { "aria-hidden": "true" }, "×")))));
  };
  page.store.listen(update);
  update();
  return bar;
}

const hint = () => "Drag to zoom, Shift-drag to pan, Ctrl-wheel or + and − to zoom, double click for all; click a row, a phase or a call to filter.";

/** Everything back, except what is only a way of looking. */
export function cleared(): Partial<Selection> {
  const { colour: _, table: __, conflicts: ___, ...rest } = NOTHING;
  return rest;
}

function describe(page: Page, s: Selection): [string, Partial<Selection>][] {
  const out: [string, Partial<Selection>][] = [];
  const { report } = page, finding = page.finding();
  if (finding) out.push([`${s.only ? "Only" : "Lit"}: ${finding.title}`, { finding: null, only: false }]);
  if (s.time) out.push([s.phase === null ? `${seconds(s.time[0])} – ${seconds(s.time[1])}` : `phase ${s.phase + 1}`, { time: null, phase: null }]);
  if (s.ranks) out.push([s.ranks[0] === s.ranks[1] ? `rank ${count(s.ranks[0])}` : `ranks ${count(s.ranks[0])} – ${count(s.ranks[1])} (${plural(s.ranks[1] - s.ranks[0] + 1, "rank")})`, { ranks: null }]);
  if (s.offset) out.push([`offset ${bytes(s.offset[0])} – ${bytes(s.offset[1])}`, { offset: null }]);
  if (s.file !== null) out.push([shortPath(report.files[s.file]?.path ?? "a file that is not listed", 40), { file: null, offset: null }]);
  if (s.layer !== null) out.push([s.layer, { layer: null }]);
  if (s.way !== null) out.push([`${s.way}s only`, { way: null }]);
  return out;
}

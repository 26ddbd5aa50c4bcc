// Filters as a form: everything that can be chosen by pointing can be chosen by name here, with the
// keyboard alone.

import type { Page } from "./page";
import type { Selection } from "./selection";
import { choosePhase } from "./timeline";
import { h } from "./element";
import { seconds, shortPath } from "./format";

export function filters(page: Page): HTMLElement {
  const fields = [ranks(page), file(page), phase(page), layer(page), way(page)].filter((one) => one !== null);
  const update = () => { for (const field of fields) field.update(page.store.now); };
  page.store.listen(update);
  update();
  return h("details", { class: "filters" }, h("summary", {}, "filter"), h("div", { class: "fields" }, ...fields.map((field) => field.node)));
}

interface Field { node: HTMLElement; update(now: Selection): void }

function choice(label: string, options: [string, string][], chosen: (now: Selection) => string, choose: (value: string) => void): Field {
  const select = h("select", { "aria-label": label }, ...options.map(([value, text]) => h("option", { value }, text)));
  select.addEventListener("change", () => choose(select.value));
  return { node: h("label", {}, label, select), update: (now) => { select.value = chosen(now); } };
}

function layer(page: Page): Field | null {
  const names = page.report.layers.map((one) => one.name);
  return names.length < 2 ? null : choice("layer", [["", "all"], ...names.map((name): [string, string] => [name, name])], (now) => now.layer ?? "", (value) => page.store.choose({ layer: value || null }));
}

function way(page: Page): Field {
  return choice("operation", [["", "reads and writes"], ["read", "reads"], ["write", "writes"]], (now) => now.way ?? "", (value) => page.store.choose({ way: value === "read" || value === "write" ? value : null }));
}

function phase(page: Page): Field | null {
  const list = page.report.phases?.list ?? [];
  if (list.length === 0) return null;
  const options = list.slice(0, 500).map((one, at): [string, string] => [String(at), `${at + 1}: ${seconds(one.start)} to ${seconds(one.end)}`]);
  return choice("phase", [["", "all"], ...options], (now) => now.phase === null ? "" : String(now.phase), (value) => value === "" ? page.store.choose({ phase: null, time: null }) : choosePhase(page, Number(value)));
}

function file(page: Page): Field | null {
  const list = page.report.files;
  if (list.length < 2) return null;
  const options = list.slice(0, 1000).map((one, at): [string, string] => [String(at), shortPath(one.path, 60)]);
  return choice("file", [["", "all"], ...options], (now) => now.file === null ? "" : String(now.file), (value) => page.store.choose({ file: value === "" ? null : Number(value), offset: null }));
}

function ranks(page: Page): Field | null {
  const last = page.rankCount() - 1;
  if (last < 1) return null;
  const [from, to] = [0, 1].map(() => h("input", { type: "number", min: 0, max: last }));
  const change = () => {
    const read = (input: HTMLInputElement, otherwise: number) => input.value === "" ? otherwise : Math.min(last, Math.max(0, Math.round(Number(input.value) || 0)));
    const [a, b] = [read(from!, 0), read(to!, last)], range = [Math.min(a, b), Math.max(a, b)] as const;
    page.store.choose({ ranks: range[0] === 0 && range[1] === last ? null : range });
  };
  for (const input of [from!, to!]) input.addEventListener("change", change);
  return {
    node: h("span", { class: "pair" }, h("label", {}, "ranks", from!), h("label", {}, "to", to!)),
    // An end that is open stays empty, so that filling in the other does not write over it.
    update: ({ ranks: chosen }) => {
      const text = [chosen && chosen[0] > 0 ? String(chosen[0]) : "", chosen && chosen[1] < last ? String(chosen[1]) : ""];
      [from!, to!].forEach((input, at) => { if (input.value !== text[at] && document.activeElement !== input) input.value = text[at]!; });
    },
  };
}

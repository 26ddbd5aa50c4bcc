// The line at the top of every live page: where one is, and the colours.

import { h } from "../element";
import { toggleTheme } from "../theme";

export function top(here: "jobs" | "site" | "runs"): HTMLElement {
  const link = (name: string, path: string) => h("a", { href: path, ...(name === here ? { "aria-current": "page" } : {}) }, name);
  const theme = h("button", { type: "button", class: "quiet", title: "light or dark", "aria-label": "light or dark", click: () => { toggleTheme(); dispatchEvent(new Event("netra-theme")); } }, "◐");
  return h("nav", { class: "top", "aria-label": "Pages" }, h("b", {}, "netra"), link("jobs", "/"), link("site", "/site"), h("span", { class: "corner" }, theme));
}

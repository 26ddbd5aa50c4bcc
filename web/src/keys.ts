// Keys that mean the same everywhere on a page.

import type { Store } from "./selection";
import { cleared } from "./chips";

export function keys(store: Store): void {
  addEventListener("keydown", (e) => {
    if (e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement || e.ctrlKey && e.key !== "z" || e.metaKey || e.altKey) return;
    if (e.key === "Escape") store.choose(cleared());
    else if (e.key === "u" || e.ctrlKey && e.key === "z") { e.preventDefault(); store.undo(); }
  });
}

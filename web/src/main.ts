// Starts the page: unpacks what it holds and puts its parts together.

import type { Comparison, Report } from "./model";
import { Columns, inflate } from "./column";
import { Page } from "./page";
import { Store } from "./selection";
import { comparison } from "./comparison";
import { h } from "./element";
import { initTheme } from "./theme";
import { keys } from "./keys";
import { single } from "./single";

function text(id: string): string { return document.getElementById(id)?.textContent ?? ""; }

async function start(): Promise<void> {
  initTheme();
  const data = JSON.parse(text("report")) as Report | Comparison, store = new Store();
  const reports = "runs" in data ? data.runs : [data];
  const suffix = (at: number) => reports.length > 1 ? `-${at + 1}` : "";
  const pages = await Promise.all(reports.map(async (report, at) => new Page(report, new Columns(await inflate(text(`detail-${at}`)), report.columns), store, suffix(at))));
  const parts = "runs" in data ? comparison(data, pages) : single(pages[0]!);
  document.querySelector("main")!.replaceChildren(...parts,
    h("footer", {}, `netra ${reports[0]!.netra}. This page is one file: it loads nothing and sends nothing. Keys on a picture: arrows move, + and − zoom, 0 shows all, Page Up and Page Down zoom ranks, Shift and arrows point, Enter chooses; u undoes, Esc shows everything.`));
  for (const page of pages) document.body.append(page.tip.node, page.tip.spoken);
  keys(store);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { for (const page of pages) page.repaint(); });
  printing(pages);
  document.documentElement.dataset["ready"] = "true";
}

/** Paper is white: pictures are drawn once more for it, also those that were out of sight. */
function printing(pages: Page[]): void {
  const root = document.documentElement;
  let before: string | undefined;
  const draw = () => { for (const page of pages) { page.repaint(); for (const plot of page.plots) plot.now(); } };
  addEventListener("beforeprint", () => { before = root.dataset["theme"]; root.dataset["theme"] = "light"; draw(); });
  addEventListener("afterprint", () => { if (before === undefined) delete root.dataset["theme"]; else root.dataset["theme"] = before; draw(); });
}

start().catch((error: unknown) => {
  const says = error instanceof Error ? error.message : String(error);
  document.querySelector("main")?.prepend(h("p", { class: "broken" }, `The pictures cannot be shown: ${says}.`));
  throw error;
});

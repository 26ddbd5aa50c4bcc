// Starts the live page: which one the address means.

import { JobPage } from "./job";
import { JobsPage } from "./jobs";
import { RunsPage } from "./runs";
import { SitePage } from "./site";
import { enter } from "./server";
import { h } from "../element";
import { initTheme } from "../theme";

async function start(): Promise<void> {
  initTheme();
  await enter();
  const job = /^\/jobs\/([^/]+)$/.exec(location.pathname);
  const runs = /^\/runs\/([^/]+)$/.exec(location.pathname);
  const page = job ? new JobPage(decodeURIComponent(job[1]!)) : runs ? new RunsPage(decodeURIComponent(runs[1]!)) : location.pathname === "/site" ? new SitePage() : new JobsPage();
  document.querySelector("main")!.replaceChildren(page.node);
}

start().catch((error: unknown) => {
  const says = error instanceof Error ? error.message : String(error);
  document.querySelector("main")?.replaceChildren(h("p", { class: "broken" }, `This page cannot be shown: ${says}.`));
});

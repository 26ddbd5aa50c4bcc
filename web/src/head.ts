// The top of the page: which job, is I/O its problem, where, why, what to change, and whether
// to trust it.

import type { Page } from "./page";
import type { Finding, Report } from "./model";
import { h } from "./element";
import { percent, plural, seconds, sentence } from "./format";
import { toggleTheme } from "./theme";

export function head(page: Page): HTMLElement {
  const { job, trust } = page.report;
  const caveats = h("div", { class: "caveats", id: "caveats", hidden: true, role: "region", "aria-label": "What is missing" }, ...trustLines(page.report));
  const badge = h("button", {
    type: "button", class: trust.complete ? "badge good" : "badge warn", "aria-expanded": "false", "aria-controls": "caveats",
    click: () => { caveats.hidden = !caveats.hidden; badge.setAttribute("aria-expanded", String(!caveats.hidden)); },
  }, trust.complete ? "✓ complete" : `⚠ ${plural(trust.caveats.length, "caveat")}`);
  const when = job.start === null ? "" : new Date(job.start * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";
  const facts = [job.mpi ? plural(job.nprocs, "rank") : plural(job.nprocs, "process", "processes"), job.nodes === null ? "" : plural(job.nodes, "node"), `ran ${seconds(job.run_time)}`, when, job.id ? `job ${job.id}` : "", job.source.split("/").at(-1) ?? ""];
  const theme = h("button", { type: "button", class: "quiet", title: "light or dark", "aria-label": "light or dark", click: () => { toggleTheme(); page.repaint(); } }, "◐");
  return h("header", {},
    h("div", { class: "job" },
      h("h1", { title: job.command }, job.command || "an application"),
      h("p", { title: job.source }, facts.filter(Boolean).join(" · "))),
    h("div", { class: "corner" }, badge, theme), caveats);
}

function trustLines(report: Report): Node[] {
  const { trust } = report;
  const lines = trust.caveats.length > 0 ? trust.caveats : ["Nothing is known to be missing or wrong."];
  const says = [`From the modules ${trust.modules.join(", ")}.`];
  if (trust.coverage !== null) says.push(`The trace covers ${percent(trust.coverage)} of the counted bytes.`);
  const open = trust.unknown.length === 0 ? [] : [h("h3", {}, "What the source could not know"), h("ul", {}, ...trust.unknown.map((line) => h("li", {}, sentence(line))))];
  says.push(...trust.aside.map((line) => `${sentence(line)}.`));
  return [h("ul", {}, ...lines.map((line) => h("li", {}, sentence(line)))), ...open, h("p", {}, says.join(" "))];
}

export function verdict(page: Page): HTMLElement {
  const node = h("section", { class: "verdict", "aria-label": "Verdict" });
  const update = () => node.replaceChildren(...answers(page));
  page.onFeed(update);
  update();
  return node;
}

function answers(page: Page): HTMLElement[] {
  const { verdict: v, findings } = page.report;
  // What costs little is no reason, here as in the terminal report.
  const first = findings[0], top = first && first.level !== "INFO" ? first : null;
  const little = first && !top && first.lost_seconds > 0 ? `Nothing that costs much; the most is: ${first.title}, ${seconds(first.lost_seconds)} (${percent(first.share)} of the run).` : null;
  const severe = v.share >= 0.3 ? "high" : v.share >= 0.1 ? "warn" : "good";
  return [
    h("div", { class: `answer ${severe}` },
      h("strong", {}, percent(v.share)), h("span", {}, sentence(v.says)), meter(page)),
    card("Where", v.place ? sentence(v.place) : "No file was used."),
    card("Why", top ? sentence(top.says) : sentence(little ?? "No rule found anything that costs time.")),
    card("What to change", top ? change(top) : little ? "Nothing that is worth it." : "Nothing that these rules know of."),
  ];
}

function card(title: string, text: string): HTMLElement {
  return h("div", { class: "card" }, h("h2", {}, title), h("p", {}, text));
}

/** The run of the slowest rank as one bar: reads, writes, metadata, the rest. */
function meter(page: Page): HTMLElement {
  const { verdict: v, job } = page.report, run = Math.max(job.run_time, v.seconds, 1e-12);
  const parts = [["read", v.parts[0]], ["write", v.parts[1]], ["meta", v.parts[2]]] as const;
  const words = parts.map(([name, time]) => `${name === "meta" ? "metadata" : name} ${seconds(time)}`);
  const bar = h("div", { class: "meter", role: "img", "aria-label": words.join(", ") },
    ...parts.map(([name, time]) => { const part = h("i", { class: name }); part.style.width = `${100 * time / run}%`; return part; }));
  const shown = parts.filter(([, time]) => time > 0);
  return h("div", {}, bar, h("div", { class: "keys" }, ...shown.map(([name, time]) =>
    h("span", { class: "key" }, h("i", { class: name }), `${name === "meta" ? "metadata" : name} ${seconds(time)}`)),
    h("span", { class: "key" }, h("i", { class: "rest" }), `other ${seconds(Math.max(0, run - v.seconds))}`)));
}

function change(finding: Finding): string {
  const says = finding.advice[0]?.says ?? "";
  const gain = finding.gain && finding.gain.seconds > 0 ? ` Gains up to ${seconds(finding.gain.seconds)}.` : "";
  return says ? `${sentence(says)}.${gain}`.replace("..", ".") : "See the finding.";
}

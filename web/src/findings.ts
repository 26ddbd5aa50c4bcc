// Findings, costliest first. One click lights up its evidence in every view, a second hides
// what it is not about.

import type { Page } from "./page";
import type { Finding } from "./model";
import { h, renew } from "./element";
import { count, percent, plural, seconds, sentence, shortPath } from "./format";

const MOST = 5;

export class Findings {
  readonly node: HTMLElement;
  readonly #page: Page;
  readonly #list = h("ol", { class: "findings" });
  readonly #title = h("h2");
  readonly #rules = h("details", { class: "passed" });
  #all = false;

  constructor(page: Page) {
    this.#page = page;
    this.node = h("section", { class: "diagnosis", "aria-label": "Findings" }, this.#title, this.#list, this.#rules);
    page.onFeed(() => { this.#about(); this.update(); });
    this.#about();
    page.store.listen(() => this.update());
    this.update();
  }

  /** What does not depend on what is chosen. */
  #about(): void {
    const { findings, passed, silenced } = this.#page.report;
    this.#title.textContent = findings.length > 0 ? "Findings, by seconds lost" : "No findings";
    this.#rules.replaceChildren(h("summary", {}, `${plural(passed.length, "check")} passed`),
      h("ul", {}, ...passed.map((one) => h("li", {}, h("code", {}, one.slug), ` ${one.says}`))),
      ...(silenced.length > 0 ? [h("p", {}, `Not asked: ${silenced.join(", ")}.`)] : []));
  }

  update(): void {
    const { findings } = this.#page.report, chosen = this.#page.store.now.finding;
    const shown = this.#all || (chosen ?? 0) >= MOST ? findings : findings.slice(0, MOST);
    const rows = shown.map((finding, at) => h("li", {}, this.#row(finding, at), at === chosen ? this.#details(finding) : null));
    if (shown.length < findings.length) {
      rows.push(h("li", {}, h("button", { type: "button", class: "quiet", click: () => { this.#all = true; this.update(); } },
        `${plural(findings.length - shown.length, "more finding")} that cost less`)));
    }
    renew(this.#list, ...rows);
  }

  #row(finding: Finding, at: number): HTMLElement {
    const share = h("i", {});
    share.style.width = `${Math.max(1, finding.share * 100)}%`;
    const lost = finding.lost_seconds > 0 ? seconds(finding.lost_seconds) : "–";
    const fix = finding.advice[0]?.says, gain = finding.gain && finding.gain.seconds > 0 ? ` (gains up to ${seconds(finding.gain.seconds)})` : "";
    return h("button", {
      type: "button", class: `finding ${finding.level.toLowerCase()}`, "data-slug": finding.slug,
      "aria-pressed": String(this.#page.store.now.finding === at), "aria-expanded": String(at === this.#page.store.now.finding),
      click: () => this.#choose(at),
    }, h("span", { class: "cost" }, h("b", {}, lost), h("span", { class: "share", title: `${percent(finding.share)} of the run` }, share)),
      h("span", { class: "says" }, h("span", { class: "title" }, sentence(finding.title), " ", h("em", {}, finding.level === "HIGH" ? "high" : finding.level === "WARN" ? "warning" : "note")), h("span", { class: "what" }, sentence(finding.says)), fix ? h("span", { class: "then" }, `→ ${sentence(fix)}${gain}`) : null));
  }

  /** First the evidence is lit, then everything else hidden, then all is as before. */
  #choose(at: number): void {
    const { finding, only } = this.#page.store.now;
    if (finding !== at) this.#page.store.choose({ finding: at, only: false });
    else if (!only) this.#page.store.choose({ only: true });
    else this.#page.store.choose({ finding: null, only: false });
  }

  #details(finding: Finding): HTMLElement {
    const { files } = this.#page.report, now = this.#page.store.now;
    const fix = finding.advice.map((one) => h("li", {}, sentence(one.says), one.code ? code(one.code) : null));
    const named = finding.places.slice(0, 3).flatMap((n) => files[n] ? [h("li", {}, h("button", { type: "button", class: "pick", title: files[n].path, click: () => this.#page.store.choose({ file: n }) }, shortPath(files[n].path, 52)))] : []);
    const more = finding.file_count - named.length;
    const shown = now.only ? "Everything else is hidden." : "Its evidence is lit; click again to hide the rest.";
    return h("div", { class: "detail" },
      fix.length > 0 ? h("ol", { class: "fix" }, ...fix) : null,
      finding.gain ? h("p", { class: "gain" }, h("b", {}, `Gains up to ${seconds(finding.gain.seconds)}`), `, assuming ${finding.gain.assuming}.`) : null,
      h("table", { class: "evidence" }, h("caption", { class: "unseen" }, "Evidence"), h("tbody", {}, ...finding.evidence.map((one) => h("tr", {}, h("th", { scope: "row" }, one.name), h("td", {}, one.text))))),
      finding.lines.length > 0 ? h("ul", { class: "files" }, ...finding.lines.slice(0, 5).map((line) => h("li", {}, h("code", {}, line.says), ` calls ${line.call} ${count(line.calls)} times, ${seconds(line.rank_seconds)}`))) : null,
      named.length > 0 ? h("ul", { class: "files" }, ...named, more > 0 ? h("li", { class: "muted" }, `and ${plural(more, "more file")}`) : null) : null,
      h("p", { class: "muted" }, [`${percent(finding.share)} of the run`, `confidence ${finding.confidence}`, `for the ${finding.audience.join(", the ")}`].join(" · "), " · ", h("code", {}, finding.slug), h("br"), shown),
      finding.queries.length > 0 ? h("details", { class: "queries" }, h("summary", {}, "See these numbers again"), ...finding.queries.flatMap((one) => [one.command ? code(one.command) : null, code(one.sql)])) : null,
      finding.symptoms.length > 0 ? h("details", {}, h("summary", {}, plural(finding.symptoms.length, "symptom of this cause", "symptoms of this cause")),
        h("ul", {}, ...finding.symptoms.map((one) => h("li", {}, sentence(one.says), one.lost_seconds > 0 ? ` (${seconds(one.lost_seconds)})` : "")))) : null);
  }
}

function code(text: string): HTMLElement {
  const copy = h("button", { type: "button", class: "quiet", "aria-label": "copy" , click: () => { void navigator.clipboard?.writeText(text); } }, "copy");
  return h("div", { class: "code" }, h("pre", {}, text), copy);
}

// Ranks, files and findings of a running job beside its pictures.

import type { History } from "./history";
import type { Rank, Relation, Standing } from "./model";
import { h } from "../element";
import { bytes, count, percent, seconds, sentence } from "../format";

const RANKS = 64, FILES = 12;

const total = (parts: readonly number[]) => parts.reduce((all, one) => all + one, 0);

/** Time in calls of each rank, as bars: reads, writes, metadata, syncs. */
export function ranks(history: History, moment: number | null): HTMLElement {
  const all = history.last?.ranks_list ?? [], most = Math.max(1, ...all.map((one) => total(one.nanos)));
  const shown = all.length > RANKS ? [...all].sort((a, b) => total(b.nanos) - total(a.nanos)).slice(0, RANKS) : all;
  return h("section", { class: "live-ranks", "aria-label": "Ranks" }, h("h2", {}, all.length > RANKS ? `The ${RANKS} ranks with most time in calls, of ${count(history.last?.ranks ?? 0)}` : "Time in calls by rank"), whole(moment),
    h("div", { class: "rank-bars" }, ...shown.map((one) => row(one, most))));
}

function row(one: Rank, most: number): HTMLElement {
  const kinds = ["read", "write", "meta", "sync"], name = one.rank === null ? `process ${one.pid}` : `rank ${one.rank}`;
  const bar = h("span", { class: "meter" }, ...kinds.map((kind, at) => { const part = h("i", { class: kind }); part.style.width = `${100 * one.nanos[at]! / most}%`; return part; }));
  const hint = `${name} on ${one.host}: ${count(one.calls)} calls, ${bytes(one.bytes_read)} read, ${bytes(one.bytes_written)} written, longest call ${seconds(one.longest / 1e9)}`;
  return h("div", { class: one.over ? "rank over" : "rank", title: hint }, h("span", {}, name), bar, h("span", { class: "number" }, seconds(total(one.nanos) / 1e9)));
}

/** Steps know no ranks and files: what is told of them is of the whole run, whichever moment one looks at. */
function whole(moment: number | null): HTMLElement | null { return moment === null ? null : h("p", { class: "muted" }, "of the whole run, not of this moment"); }

/** A path of which the folders give way first where there is no room. */
function path(text: string): HTMLElement {
  const at = text.lastIndexOf("/") + 1;
  return h("span", { class: "path" }, h("span", {}, text.slice(0, at)), h("span", {}, text.slice(at)));
}

export function files(history: History, moment: number | null): HTMLElement {
  const all = history.last?.files ?? [], cell = (text: string) => h("td", { class: "number" }, text);
  const rows = all.slice(0, FILES).map((file) => h("tr", {}, h("td", { title: `${file.path}\n${count(file.reads)} reads, ${count(file.writes)} writes of ${count(file.processes)} processes` }, path(file.path)), cell(seconds(total(file.nanos) / 1e9)), cell(bytes(file.bytes_read)), cell(bytes(file.bytes_written))));
  const head = ["file", "time", "read", "written"];
  return h("section", { class: "live-files", "aria-label": "Files" }, h("h2", {}, `Files by time, ${count(history.last?.file_count ?? 0)} in all`), whole(moment),
    h("div", { class: "scroll plain" }, h("table", {}, h("thead", {}, h("tr", {}, ...head.map((name, at) => h("th", { scope: "col", class: at > 0 ? "number" : "" }, name)))), h("tbody", {}, ...rows))));
}

/** Findings as they come and go. */
export function findings(history: History, moment: number | null): HTMLElement {
  const last = history.last, start = history.start;
  const standing = moment === null ? (last?.diagnosis.standings ?? []).filter((one) => one.gone === null) : history.standing(moment);
  const gone = moment === null ? (last?.diagnosis.standings ?? []).filter((one) => one.gone !== null).slice(0, 5) : [];
  const says = last === null || last.diagnosis.number === 0 ? "The rules have not been asked yet." : last.diagnosis.failed ? `The rules could not be asked: ${last.diagnosis.failed}.` : standing.length > 0 ? "" : moment !== null ? "No rule had found anything by then." : `No rule finds anything${last.state === "ended" ? "" : " so far"}.`;
  return h("section", { class: "live-findings", "aria-label": "Findings" }, h("h2", {}, last?.state === "ended" ? "Findings" : "Findings so far"), says ? h("p", { class: "muted" }, says) : null,
    h("ul", { class: "standings" }, ...[...standing, ...gone].map((one) => standingRow(one, start, last?.state === "ended" ? "" : " so far"))), ...related(last?.diagnosis.related ?? []));
}

function standingRow(one: Standing, start: number, until: string): HTMLElement {
  const when = one.gone === null ? `since ${seconds(one.since - start)}` : `from ${seconds(one.since - start)} to ${seconds(one.gone - start)}`;
  return h("li", { class: `standing ${one.gone === null ? one.level.toLowerCase() : "gone"}`, "data-slug": one.slug },
    h("b", {}, sentence(one.title)), h("div", { class: "muted" }, when, one.lost > 0 ? one.gone === null ? `; costs ${seconds(one.lost)}${until}` : `; cost ${seconds(one.lost)}` : ""), h("div", {}, sentence(one.says)));
}

/** What the nodes did when calls were slow. */
function related(list: readonly Relation[]): HTMLElement[] {
  if (list.length === 0) return [];
  const row = (one: Relation) => {
    const lead = one.lead === 0 ? "at the same time" : one.lead > 0 ? `${one.lead} s before` : `${-one.lead} s after`;
    const chance = one.chance < 1e-4 ? "below 0.01 %" : percent(one.chance);
    return h("li", { "data-metric": one.name }, "Calls take longer when ", h("code", {}, one.target ? `${one.name} of ${one.target}` : one.name), ` on ${one.host} is high: correlation ${one.value.toFixed(2)}, ${lead}, chance ${chance}.`);
  };
  return [h("ul", { class: "related" }, ...list.map(row))];
}

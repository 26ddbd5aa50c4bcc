// Several runs side by side: what changed, which findings went or came, and the same pictures of
// each over the same axes.

import type { Comparison, Report } from "./model";
import type { Page } from "./page";
import { Heat } from "./heat";
import { Timeline } from "./timeline";
import { type Column, Table } from "./table";
import { boxes } from "./spread";
import { callsByRank, colours } from "./single";
import { chips } from "./chips";
import { draw, highest } from "./views";
import { h, renew } from "./element";
import { bytes, count, percent, plural, seconds, sentence, shortPath } from "./format";
import { toggleTheme } from "./theme";

const NAMES = "ABCDEFGH";
const total = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

export function comparison(data: Comparison, pages: Page[]): HTMLElement[] {
  const span = { end: Math.max(...pages.map((page) => page.end())), ranks: Math.max(...pages.map((page) => page.rankCount())) };
  for (const page of pages) page.share(span);
  const changed = h("section", { class: "changes" }, h("div", {}, h("h2", {}, "What changed"), numbers(data.runs)), h("div", {}, h("h2", {}, "Findings, seconds lost"), findings(data)));
  return [head(data, pages), changed, chips(pages[0]!, false), ...pictures(pages), charts(pages), files(data.runs)];
}

function head(data: Comparison, pages: Page[]): HTMLElement {
  const theme = h("button", { type: "button", class: "quiet", title: "light or dark", "aria-label": "light or dark", click: () => { toggleTheme(); for (const page of pages) page.repaint(); } }, "◐");
  return h("header", {}, h("div", { class: "job" }, h("h1", {}, `${plural(data.runs.length, "run")} side by side`), h("p", { class: "answer-line" }, sentence(data.compare.says))), h("div", { class: "corner" }, theme));
}

interface Line { name: string; value: (report: Report) => number; text: (value: number) => string; better?: "less" | "more"; /** A change of it is said in points, and is neither good nor bad by itself. */ share?: boolean }

const LINES: Line[] = [
  { name: "ranks", value: (r) => r.job.nprocs, text: count },
  { name: "run", value: (r) => r.job.run_time, text: seconds, better: "less" },
  { name: "I/O of the slowest rank", value: (r) => r.verdict.seconds, text: seconds, better: "less" },
  { name: "share of the run", value: (r) => r.verdict.share, text: percent, share: true },
  { name: "reading", value: (r) => r.verdict.parts[0], text: seconds, better: "less" },
  { name: "writing", value: (r) => r.verdict.parts[1], text: seconds, better: "less" },
  { name: "metadata", value: (r) => r.verdict.parts[2], text: seconds, better: "less" },
  { name: "bytes read", value: (r) => total(r.files.map((file) => file.bytes_read)), text: bytes },
  { name: "bytes written", value: (r) => total(r.files.map((file) => file.bytes_written)), text: bytes },
  { name: "reads and writes", value: (r) => total(r.files.map((file) => file.reads + file.writes)), text: count, better: "less" },
  { name: "opens", value: (r) => total(r.files.map((file) => file.opens)), text: count, better: "less" },
  { name: "files", value: (r) => r.file_count, text: count },
];

/** Numbers of each run, and what the last makes of the first. */
function numbers(runs: Report[]): HTMLElement {
  const first = runs[0]!, last = runs.at(-1)!;
  const rows = LINES.filter((line) => runs.some((run) => line.value(run) > 0)).map((line) => {
    const [a, b] = [line.value(first), line.value(last)], apart = Math.abs(a - b) > (line.share ? 0.0005 : 0.05 * Math.max(a, b));
    // A time that is nothing beside the runs is neither better nor worse.
    const little = line.text === seconds && Math.abs(a - b) < 0.001 * Math.max(first.job.run_time, last.job.run_time);
    const good = !line.better || !apart || little ? "" : (line.better === "less") === b < a ? "better" : "worse";
    return h("tr", {}, h("th", { scope: "row" }, line.name), ...runs.map((run) => h("td", { class: "number" }, line.text(line.value(run)))), h("td", { class: `number ${good}` }, !apart ? "same" : line.share ? points(a, b) : factor(a, b)));
  });
  return scrolled(h("tr", {}, h("td"), ...runs.map((run, at) => h("th", { scope: "col", title: run.job.source, class: "number" }, NAMES[at] ?? "", h("small", {}, shortPath(run.job.source.split("/").at(-1) ?? "", 26)))), h("th", { scope: "col", class: "number" }, "change")), rows);
}

function points(a: number, b: number): string { return `${b > a ? "+" : "−"}${(Math.abs(b - a) * 100).toFixed(1)} points`; }

function factor(a: number, b: number): string {
  if (a <= 0) return "new";
  if (b <= 0) return "gone";
  const times = b > a ? b / a : a / b;
  return times < 1.95 ? `${b > a ? "+" : "−"}${percent(Math.abs(b - a) / a)}` : `${times < 10 ? times.toFixed(1) : count(times)}× ${b > a ? "more" : "less"}`;
}

function findings({ compare, runs }: Comparison): HTMLElement {
  const rows = compare.findings.map((finding) => {
    const [a, b] = [finding.runs[0], finding.runs.at(-1)];
    const word = a && !b ? "gone" : !a && b ? "new" : "";
    return h("tr", { "data-slug": finding.slug }, h("th", { scope: "row" }, sentence(finding.title)), ...finding.runs.map((one) => h("td", { class: "number" }, one ? one.lost_seconds > 0 ? seconds(one.lost_seconds) : one.level === "INFO" ? "note" : "found" : "–")), h("td", { class: word === "gone" ? "better" : word === "new" ? "worse" : "" }, word));
  });
  return rows.length === 0 ? h("p", { class: "muted" }, "No run has any.") : scrolled(h("tr", {}, h("td"), ...runs.map((_, at) => h("th", { scope: "col", class: "number" }, NAMES[at] ?? "")), h("td")), rows);
}

function scrolled(top: HTMLElement, rows: HTMLElement[]): HTMLElement {
  return h("div", { class: "scroll plain" }, h("table", {}, h("thead", {}, top), h("tbody", {}, ...rows)));
}

/** The same pictures of each run in columns. */
function pictures(pages: Page[]): HTMLElement[] {
  const timelines = pages.map((page) => new Timeline(page)), heats = pages.map((page) => new Heat(page)), calls = pages.map(callsByRank);
  Timeline.align(timelines);
  pages.forEach((page, at) => page.plots.push(timelines[at]!, heats[at]!, ...calls[at]!));
  const columns = (title: string, parts: Node[][], legend: Node | null = null) => h("section", { "aria-label": title }, legend, h("div", { class: "beside" }, ...parts.map((nodes, at) => h("div", {}, h("h4", {}, NAMES[at] ?? ""), ...nodes))));
  const traced = pages.find((page) => page.marks.count > 0);
  return [columns("The whole job", timelines.map((one) => [one.figure])), columns("Ranks over time", heats.map((one) => [one.figure])),
    ...(traced ? [columns("Single calls", calls.map((plots) => plots.map((plot) => plot.figure)), colours(traced))] : [])];
}

/** Charts of each run with equal axes, and how far ranks of different runs are apart. */
function charts(pages: Page[]): HTMLElement {
  const node = h("section", { class: "charts pairs", "aria-label": "Charts" });
  const update = () => {
    const rows: HTMLElement[] = [operations(pages)].filter((one) => one !== null);
    for (const view of pages[0]!.report.views) {
      const most = Math.max(...pages.map((page) => highest(page, view)));
      const drawn = pages.map((page) => draw(page, view, most));
      for (let at = 0; at < Math.max(...drawn.map((one) => one.length)); at++) rows.push(h("div", { class: "beside" }, ...drawn.map((one, run) => h("div", {}, h("h4", {}, NAMES[run] ?? ""), one[at] ?? h("p", { class: "nothing" }, "nothing")))));
    }
    renew(node, ...rows);
  };
  pages[0]!.store.listen(update);
  update();
  return node;
}

/** Operations of each rank, and their spread over the runs. */
function operations(pages: Page[]): HTMLElement | null {
  const runs = pages.map(({ report: { ranks }, columns }) => {
    const [rank, reads, writes] = [columns.get(ranks.rank), columns.get(ranks.reads), columns.get(ranks.writes)];
    return new Map(Array.from(rank, (one, at) => [one, reads[at]! + writes[at]!]));
  });
  const ranks = [...new Set(runs.flatMap((run) => [...run.keys()]))].sort((a, b) => a - b);
  if (ranks.length === 0) return null;
  const per = Math.ceil(ranks.length / 128), shown = ranks.filter((_, at) => at % per === 0);
  const quarters = shown.map((rank) => { const values = runs.map((run) => run.get(rank) ?? 0).sort((a, b) => a - b); return [0, 1, 2, 3, 4].map((q) => values[Math.floor((values.length - 1) * q / 4)]!); });
  return boxes({ id: "rank-spread", title: "Operations by rank", note: `least, quartiles and most of ${plural(pages.length, "run")}${per > 1 ? `; every ${count(per)}th rank` : ""}${pages.every(({ report }) => report.ranks.counted) ? "" : "; without records that were summed over ranks"}`, labels: shown.map(count), axis: "rank", text: count,
    series: ["least", "lower quartile", "median", "upper quartile", "most"].map((name, q) => ({ name, class: "plain", values: quarters.map((values) => values[q]!) })) });
}

interface Row { path: string; times: number[]; apart: number }

/** Files by how much their time differs between runs. */
function files(runs: Report[]): HTMLElement {
  const found = new Map<string, number[]>();
  runs.forEach((run, at) => { for (const file of run.files) { const times = found.get(file.path) ?? runs.map(() => 0); times[at] = total(file.seconds); found.set(file.path, times); } });
  const rows = [...found].map(([path, times]): Row => ({ path, times, apart: Math.abs(times[0]! - times.at(-1)!) }));
  const columns: Column<Row>[] = [{ name: "file", value: (row) => row.path, text: (row) => shortPath(row.path, 64) }, ...runs.map((_, at): Column<Row> => ({ name: `time in ${NAMES[at]}`, value: (row) => row.times[at]!, text: (row) => seconds(row.times[at]!) })), { name: "difference", value: (row) => row.apart, text: (row) => seconds(row.apart) }];
  return h("section", { class: "tables", "aria-label": "Files" }, h("h2", {}, "Files by what changed"), new Table<Row>({ id: "files", caption: "Files by what changed", rows, columns, sort: columns.length - 1 }).node);
}

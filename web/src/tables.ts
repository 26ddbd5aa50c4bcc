// Files, ranks, phases, layers, file systems and storage targets as tables, one open at a time.

import type { Page } from "./page";
import type { File, Layer, Ost, Phase, Report, Site } from "./model";
import { type Column, Table } from "./table";
import { h, renew } from "./element";
import { bytes, count, plural, rate, seconds, shortPath } from "./format";
import { choosePhase } from "./timeline";
import { rankSeconds } from "./facts";

interface RankRow { rank: number; seconds: number; bytes: number; reads: number; writes: number }
interface System { mount: string; kind: string; files: number; bytes: number; seconds: number }

type Function = Report["functions"][number];

const total = (parts: readonly number[]) => parts.reduce((a, b) => a + b, 0);
const sized = <R>(name: string, value: (row: R) => number): Column<R> => ({ name, value, text: (row) => bytes(value(row)) });
const timed = <R>(name: string, value: (row: R) => number): Column<R> => ({ name, value, text: (row) => seconds(value(row)) });

export class Tables {
  readonly node: HTMLElement;
  readonly #page: Page;
  readonly #tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Tables" });
  readonly #panel = h("div", { role: "tabpanel", id: "table-panel" });
  readonly #makers = new Map<string, { title: string; make: () => { node: HTMLElement; update(): void } }>();
  readonly #made = new Map<string, { node: HTMLElement; update(): void }>();

  constructor(page: Page) {
    this.#page = page;
    this.node = h("section", { class: "tables", "aria-label": "Tables" }, this.#tabs, this.#panel);
    this.#tabs.addEventListener("keydown", (e) => this.#key(e));
    page.store.listen(() => this.update());
    page.onFeed(() => { this.#list(); this.update(); });
    this.#list();
    this.update();
  }

  /** Which tables there are; newer data make them anew. */
  #list(): void {
    this.#makers.clear();
    this.#made.clear();
    const r = this.#page.report;
    this.#add("files", `Files ${count(r.file_count)}`, () => this.#files());
    if (r.ranks.count > 0) this.#add("ranks", `Ranks ${count(r.ranks.count)}`, () => this.#ranks());
    if (r.phases) this.#add("phases", `Phases ${count(r.phases.list.length)}`, () => this.#phases());
    this.#add("layers", `Layers ${r.layers.length}`, () => this.#layers());
    if (r.functions.some((one) => one.calls > 0)) this.#add("functions", "Functions", () => this.#functions());
    if (r.sites.length > 0) this.#add("sites", `Call sites ${count(r.sites.length)}`, () => this.#sites());
    this.#add("systems", "File systems", () => this.#systems());
    if (r.osts.list.length > 0) this.#add("osts", `Storage targets ${r.osts.list.length}`, () => this.#osts());
  }

  #add<R>(name: string, title: string, make: () => Table<R>): void { this.#makers.set(name, { title, make }); }

  update(): void {
    const wanted = this.#page.store.now.table, open = this.#makers.has(wanted) ? wanted : "files";
    renew(this.#tabs, ...[...this.#makers].map(([name, { title }]) => h("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(name === open), "aria-controls": "table-panel", tabindex: name === open ? "0" : "-1",
      click: () => this.#page.store.choose({ table: name }),
    }, title)));
    this.#panel.setAttribute("aria-labelledby", `tab-${open}`);
    let table = this.#made.get(open);
    if (table) table.update();
    else { table = this.#makers.get(open)!.make(); this.#made.set(open, table); }
    if (this.#panel.firstChild !== table.node) this.#panel.replaceChildren(table.node);
  }

  #key(e: KeyboardEvent): void {
    const names = [...this.#makers.keys()], at = names.indexOf(this.#page.store.now.table);
    const next = e.key === "ArrowRight" ? at + 1 : e.key === "ArrowLeft" ? at - 1 : null;
    if (next === null) return;
    e.preventDefault();
    const name = names[(next + names.length) % names.length]!;
    this.#page.store.choose({ table: name });
    document.getElementById(`tab-${name}`)?.focus();
  }

  #files(): Table<[File, number]> {
    const { report, store } = this.#page;
    type Row = [File, number];
    const rows = report.files.map((file, at): Row => [file, at]), meant = () => this.#page.finding();
    const hidden = report.file_count - report.files.length;
    return new Table<Row>({
      id: "files", caption: "Files", rows, sort: 1,
      columns: [
        { name: "file", value: ([f]) => f.path, text: ([f]) => shortPath(f.path, 64) },
        timed("time", ([f]) => total(f.seconds)), timed("reading", ([f]) => f.seconds[0]), timed("writing", ([f]) => f.seconds[1]), timed("metadata", ([f]) => f.seconds[2]),
        sized("read", ([f]) => f.bytes_read), sized("written", ([f]) => f.bytes_written), { name: "size", value: ([f]) => f.size ?? 0, text: ([f]) => f.size === null ? "–" : bytes(f.size) },
        { name: "reads", value: ([f]) => f.reads }, { name: "writes", value: ([f]) => f.writes }, { name: "opens", value: ([f]) => f.opens }, { name: "seeks", value: ([f]) => f.seeks },
        { name: "ranks", value: ([f]) => f.ranks }, { name: "layers", value: ([f]) => f.layers.join(" ") }, { name: "on", value: ([f]) => f.kind ?? "–" },
        { name: "stripes", value: ([f]) => f.stripes ?? 0, text: ([f]) => f.stripes === null ? "–" : count(f.stripes) },
      ],
      chosen: ([, at]) => store.now.file === at, lit: ([, at]) => meant()?.places.includes(at) ?? false,
      choose: ([, at]) => store.choose({ file: store.now.file === at ? null : at, offset: null }),
      more: `A file's size is where its last byte was read or written.${hidden > 0 ? ` ${count(hidden)} more files that took less time are not in this page.` : ""}`,
    });
  }

  #ranks(): Table<RankRow> {
    const { report, columns, store } = this.#page, r = report.ranks;
    const [rank, moved, reads, writes] = [columns.get(r.rank), columns.get(r.bytes), columns.get(r.reads), columns.get(r.writes)] as const, spent = rankSeconds(this.#page);
    const rows = Array.from({ length: r.count }, (_, i): RankRow => ({ rank: rank[i]!, seconds: spent.of(i), bytes: moved[i]!, reads: reads[i]!, writes: writes[i]! }));
    let ranks = new Set<number>(), of: unknown = null;
    const meant = (row: RankRow) => {
      const finding = this.#page.finding();
      if (of !== finding) { of = finding; ranks = new Set(finding?.ranks ?? []); }
      return ranks.has(row.rank);
    };
    return new Table<RankRow>({
      id: "ranks", caption: "Ranks", rows, sort: 1,
      columns: [{ name: "rank", value: (row) => row.rank }, timed("time", (row) => row.seconds), sized("bytes", (row) => row.bytes), { name: "reads", value: (row) => row.reads }, { name: "writes", value: (row) => row.writes }],
      chosen: (row) => store.now.ranks?.[0] === row.rank && store.now.ranks[1] === row.rank, lit: meant,
      choose: (row) => store.choose({ ranks: store.now.ranks?.[0] === row.rank && store.now.ranks[1] === row.rank ? null : [row.rank, row.rank] }),
      ...(r.complete ? {} : { more: spent.traced ? "Times are those of traced calls." : r.counted ? "The time of records that were summed over ranks is not in here." : "Records that were summed over ranks are not in here." }),
    });
  }

  #phases(): Table<[Phase, number]> {
    const { report, store } = this.#page, phases = report.phases!;
    type Row = [Phase, number];
    return new Table<Row>({
      id: "phases", caption: "Phases", rows: phases.list.map((phase, at): Row => [phase, at]), sort: 2,
      columns: [
        { name: "phase", value: ([, at]) => at + 1 }, timed("start", ([p]) => p.start), timed("duration", ([p]) => p.end - p.start),
        { name: "calls", value: ([p]) => p.calls }, { name: "ranks", value: ([p]) => p.ranks }, sized("read", ([p]) => p.bytes_read), sized("written", ([p]) => p.bytes_written),
        { name: "rate", value: ([p]) => (p.bytes_read + p.bytes_written) / Math.max(p.end - p.start, 1e-9), text: ([p]) => rate(p.bytes_read + p.bytes_written, p.end - p.start) },
        { name: "slowest rank", value: ([p]) => p.slowest[1], text: ([p]) => `${seconds(p.slowest[1])} (rank ${p.slowest[0]})` },
        { name: "fastest rank", value: ([p]) => p.fastest[1], text: ([p]) => `${seconds(p.fastest[1])} (rank ${p.fastest[0]})` },
      ],
      chosen: ([, at]) => store.now.phase === at,
      choose: ([, at]) => { if (store.now.phase === at) store.choose({ phase: null, time: null }); else choosePhase(this.#page, at); },
      more: `A quiet time above ${seconds(phases.gap)} separates phases.${phases.period === null ? "" : ` They repeat every ${seconds(phases.period)}.`}`,
    });
  }

  #layers(): Table<Layer> {
    const { report, store } = this.#page;
    return new Table<Layer>({
      id: "layers", caption: "Layers", rows: report.layers, sort: 7,
      columns: [
        { name: "layer", value: (l) => l.name }, { name: "files", value: (l) => l.files }, { name: "reads", value: (l) => l.reads }, { name: "writes", value: (l) => l.writes }, { name: "opens", value: (l) => l.opens },
        sized("read", (l) => l.bytes_read), sized("written", (l) => l.bytes_written),
        timed("time, all ranks", (l) => total(l.seconds)), timed("reading", (l) => l.seconds[0]), timed("writing", (l) => l.seconds[1]), timed("metadata", (l) => l.seconds[2]),
      ],
      chosen: (l) => store.now.layer === l.name, choose: (l) => store.choose({ layer: store.now.layer === l.name ? null : l.name }),
    });
  }

  #functions(): Table<Function> {
    return new Table<Function>({
      id: "functions", caption: "Functions", rows: this.#page.report.functions.filter((one) => one.calls > 0 || (one.seconds ?? 0) > 0), sort: 2,
      columns: [{ name: "function", value: (f) => f.name }, { name: "layer", value: (f) => f.layer }, { name: "calls", value: (f) => f.calls },
        { name: "time, all ranks", value: (f) => f.seconds ?? 0, text: (f) => f.seconds === null ? "–" : seconds(f.seconds) }],
    });
  }

  #sites(): Table<Site> {
    return new Table<Site>({
      id: "sites", caption: "Call sites", rows: this.#page.report.sites, sort: 2,
      columns: [{ name: "place", value: (s) => s.site, text: (s) => { const node = h("span", { title: s.stack.join("\n") }, s.site); return node; } }, { name: "calls what", value: (s) => s.function }, timed("time, all ranks", (s) => s.seconds),
        { name: "calls", value: (s) => s.calls }, { name: "failed", value: (s) => s.failed }, sized("bytes", (s) => s.bytes), { name: "source", value: (s) => s.source === null ? "–" : `${s.source}${s.line === null ? "" : `:${s.line}`}`, text: (s) => s.source === null ? "–" : shortPath(`${s.source}${s.line === null ? "" : `:${s.line}`}`, 48) }],
    });
  }

  #systems(): Table<System> {
    const found = new Map<string, System>();
    for (const file of this.#page.report.files) {
      const mount = file.mount ?? "not known", system = found.get(mount) ?? { mount, kind: file.kind ?? "–", files: 0, bytes: 0, seconds: 0 };
      system.files += 1; system.bytes += file.bytes_read + file.bytes_written; system.seconds += total(file.seconds);
      found.set(mount, system);
    }
    return new Table<System>({
      id: "systems", caption: "File systems", rows: [...found.values()], sort: 4,
      columns: [{ name: "mounted at", value: (s) => s.mount }, { name: "type", value: (s) => s.kind }, { name: "files", value: (s) => s.files }, sized("bytes", (s) => s.bytes), timed("time, all ranks", (s) => s.seconds)],
      more: this.#page.report.file_count > this.#page.report.files.length ? `Of the ${plural(this.#page.report.files.length, "file")} in this page.` : "",
    });
  }

  #osts(): Table<Ost> {
    const { osts } = this.#page.report;
    return new Table<Ost>({
      id: "osts", caption: "Storage targets", rows: osts.list, sort: 4,
      columns: [{ name: "OST", value: (o) => o.ost }, { name: "files", value: (o) => o.files }, sized("bytes", (o) => o.bytes), { name: "files on it alone", value: (o) => o.alone }, timed("their mean time", (o) => o.seconds_mean), timed("their slowest", (o) => o.seconds_max)],
    });
  }
}

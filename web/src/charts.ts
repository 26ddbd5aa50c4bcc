// Charts that are not over time: request sizes, time by layer, storage targets, ranks.

import type { Page } from "./page";
import { bars } from "./bars";
import { h } from "./element";
import { bytes, count, plural, seconds } from "./format";
import { sizeBin } from "./raster";

export class Charts {
  readonly node = h("section", { class: "charts", "aria-label": "Charts" });
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
    page.store.listen(() => this.update());
    this.update();
  }

  update(): void {
    this.node.replaceChildren(...[this.#layers(), ...this.#sizes(), this.#ranks(), ...this.#targets()].filter((one) => one !== null));
  }

  #layers(): HTMLElement | null {
    const layers = this.#page.report.layers;
    if (layers.length === 0) return null;
    const of = (at: number) => layers.map((layer) => layer.seconds[at]!);
    return bars({ id: "layer-time", title: "Time by layer", note: "seconds of all ranks; an outer layer contains the inner ones", labels: layers.map((l) => l.name), text: seconds,
      series: [{ name: "reading", class: "read", values: of(0) }, { name: "writing", class: "write", values: of(1) }, { name: "metadata", class: "meta", values: of(2) }] });
  }

  /** From counters, or from the traced calls where some of them were chosen. */
  #sizes(): HTMLElement[] {
    const { report, marks, shade, store: { now } } = this.#page;
    const filtered = now.time || now.ranks || now.file !== null || now.way || now.finding !== null && now.only;
    const layers = report.layers.filter((layer) => layer.sizes && (now.layer === null || now.layer === layer.name) && (layer.name === "POSIX" || layer.name === "MPI-IO"));
    return layers.map((layer) => {
      let { read, write } = layer.sizes!, note = "calls by size, from counters";
      const traced = filtered && marks.exact && report.timeline.lanes.some((l) => l.layer === layer.name && l.basis === "traced");
      if (traced) {
        [read, write] = [Array<number>(10).fill(0), Array<number>(10).fill(0)];
        for (let i = 0; i < marks.count; i++) {
          if (shade[i] !== 0 && marks.layer(i) === layer.name && marks.within(i, now)) (marks.isWrite(i) ? write : read)[sizeBin(marks.bytes[i]!)]! += 1;
        }
        note = "calls by size, of the selection";
      } else if (filtered) note = "calls by size, of the whole job: the selection was not traced call by call";
      return bars({ id: `sizes-${layer.name.toLowerCase()}`, title: `Request sizes, ${layer.name}`, note, labels: report.size_bins, text: count, logarithmic: true,
        series: [{ name: "reads", class: "read", values: read }, { name: "writes", class: "write", values: write }] });
    });
  }

  /** Seconds of each rank in order of rank; where there are many, the slowest of neighbours. */
  #ranks(): HTMLElement | null {
    const { report, columns } = this.#page, n = report.ranks.count;
    if (n < 2) return null;
    const rank = columns.get(report.ranks.rank), spent = columns.get(report.ranks.seconds);
    const most = 128, per = Math.ceil(n / most), groups = Math.ceil(n / per);
    const slowest = Array.from({ length: groups }, (_, g) => {
      let at = g * per;
      for (let i = at; i < Math.min(n, (g + 1) * per); i++) if (spent[i]! > spent[at]!) at = i;
      return at;
    });
    const ordered = Float64Array.from(spent).sort(), median = ordered[Math.floor(n / 2)]!;
    const meant = new Set(this.#page.finding()?.ranks ?? []);
    const lit = meant.size > 0 ? { lit: (at: number) => { for (let i = at * per; i < Math.min(n, (at + 1) * per); i++) if (meant.has(rank[i]!)) return true; return false; } } : {};
    const note = [per > 1 ? `the slowest of every ${count(per)}` : "each rank", report.ranks.complete ? "" : "without records that were summed over ranks"].filter(Boolean).join("; ");
    return bars({ id: "rank-time", title: "I/O time by rank", note, labels: slowest.map((at) => count(rank[at]!)), text: seconds, axis: "rank",
      series: [{ name: "seconds", class: "plain", values: slowest.map((at) => spent[at]!) }], level: { value: median, text: `median ${seconds(median)}` }, ...lit });
  }

  #targets(): HTMLElement[] {
    const { list, median } = this.#page.report.osts;
    if (list.length === 0) return [];
    const labels = list.map((ost) => String(ost.ost)), out = [];
    out.push(bars({ id: "ost-bytes", title: "Bytes by storage target", note: `${plural(list.length, "target")}; bytes of a striped file shared out evenly`, labels, text: bytes, axis: "OST",
      series: [{ name: "bytes", class: "plain", values: list.map((ost) => ost.bytes) }] }));
    if (list.some((ost) => ost.alone > 0)) {
      out.push(bars({ id: "ost-time", title: "Time by storage target", note: "mean and slowest file that lies on one target alone", labels, text: seconds, axis: "OST",
        series: [{ name: "mean", class: "plain", values: list.map((ost) => ost.seconds_mean) }, { name: "slowest", class: "strong", values: list.map((ost) => ost.seconds_max) }],
        level: { value: median, text: `median of means ${seconds(median)}` } }));
    }
    return out;
  }
}

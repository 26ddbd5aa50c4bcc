// Rows over time, one for each storage target or node: bytes or calls of a step as lightness. A
// pixel is the step with most below it.

import type { Page } from "./page";
import type { Nodes, Targets } from "./model";
import type { Scale } from "./scale";
import { type Hint, Plot } from "./plot";
import { linear } from "./scale";
import { h, renew } from "./element";
import { bytes, count, plural, rate, seconds } from "./format";
import { blocks } from "./heat";
import { mix, pixel } from "./theme";

/** What is drawn: rows of steps, and how many things share a row. */
interface Rows { names: string[]; perRow: number; bins: number; read: string; write: string; unit: "bytes" | "calls" }

abstract class Strips extends Plot {
  protected abstract data(): Rows;
  /** What a row is: `OST` or `node`. */
  protected abstract readonly thing: string;

  #rows(): number { const { names, perRow } = this.data(); return Math.ceil(names.length / perRow); }

  protected y(): Scale { return linear([0, this.#rows()], [this.height, 0]); }

  protected draw(): void {
    const { read, write, bins } = this.data(), rows = this.#rows(), ratio = devicePixelRatio || 1, t = this.page.theme;
    const wide = Math.max(1, Math.round(this.width * ratio)), high = Math.max(1, Math.round(this.height * ratio));
    const [r, w] = [this.page.columns.get(read), this.page.columns.get(write)], [t0, t1] = this.page.time(), step = this.#end() / bins;
    const most = Math.max(this.#most(r), this.#most(w));
    const across = blocks(wide, t0 / step, t1 / step, bins), down = blocks(high, 0, rows, rows);
    const shades = (colour: readonly [number, number, number]) => Uint32Array.from({ length: 256 }, (_, v) => pixel(mix(t.paper, colour, v === 0 ? 0 : 0.22 + 0.78 * (v / 255) ** 0.5)));
    const [blue, orange] = [shades(t.read), shades(t.write)], way = this.page.store.now.way;
    const image = this.context.createImageData(wide, high), out = new Uint32Array(image.data.buffer);
    for (let py = 0; py < high; py++) for (let px = 0; px < wide; px++) {
      let a = 0, b = 0;
      for (let row = down[2 * (high - 1 - py)]!; row <= down[2 * (high - 1 - py) + 1]!; row++) for (let bin = across[2 * px]!; bin <= across[2 * px + 1]!; bin++) {
        const cell = row * bins + bin;
        if (r[cell]! > a) a = r[cell]!;
        if (w[cell]! > b) b = w[cell]!;
      }
      if (way === "write") a = 0; else if (way === "read") b = 0;
      const level = (value: number) => value > 0 ? Math.max(1, Math.ceil(value / most * 255)) : 0;
      out[py * wide + px] = a > b ? blue[level(a)]! : orange[level(b)]!;
    }
    this.picture(image);
    this.names();
    this.xAxis();
  }

  /** The end of this run's own steps. */
  #end(): number { return this.page.report.timeline.end || 1; }

  #most(values: ArrayLike<number>): number {
    let most = 0;
    for (let i = 0; i < values.length; i++) if (values[i]! > most) most = values[i]!;
    return most || 1;
  }

  /** Names of rows, as many as there is room for. */
  protected names(): void {
    const c = this.context, t = this.page.theme, { names, perRow } = this.data(), rows = this.#rows(), y = this.y();
    c.font = "11px system-ui, sans-serif"; c.fillStyle = t.muted; c.textAlign = "right"; c.textBaseline = "middle";
    const every = Math.max(1, Math.ceil(rows * 15 / this.height));
    for (let row = 0; row < rows; row += every) {
      const name = names[row * perRow] ?? "";
      c.fillText(name.length > 11 ? `${name.slice(0, 10)}…` : name, -7, y.at(row + 0.5));
    }
    c.strokeStyle = t.line; c.strokeRect(0.5, 0.5, this.width - 1, this.height - 1);
  }

  #cell(px: number, py: number): { row: number; bin: number } {
    const { bins } = this.data(), rows = this.#rows();
    return { row: Math.min(rows - 1, Math.max(0, Math.floor(this.y().value(py)))), bin: Math.min(bins - 1, Math.max(0, Math.floor(this.x().value(px) / this.#end() * bins))) };
  }

  protected hint(px: number, py: number): Hint | null {
    const { names, perRow, bins, read, write, unit } = this.data(), { row, bin } = this.#cell(px, py), step = this.#end() / bins;
    const amount = (name: string) => this.page.columns.get(name)[row * bins + bin]!;
    const text = (value: number) => unit === "bytes" ? `${bytes(value)}, ${rate(value, step)}` : plural(value, "call");
    const lines: [string, string][] = [["time", seconds(bin * step)]];
    if (amount(read) > 0) lines.push(["read", text(amount(read))]);
    if (amount(write) > 0) lines.push(["written", text(amount(write))]);
    if (lines.length === 1) lines.push(["", "nothing"]);
    const last = Math.min(names.length, (row + 1) * perRow) - 1;
    return { title: `${this.thing} ${names[row * perRow]}${last > row * perRow ? ` to ${names[last]}` : ""}`, lines };
  }

  protected rows(): (string | number)[][] {
    const { names, perRow, bins, read, write, unit } = this.data(), step = this.#end() / bins;
    const [r, w] = [this.page.columns.get(read), this.page.columns.get(write)];
    const rows: (string | number)[][] = [[this.thing, "start_s", `read_${unit}`, `write_${unit}`]];
    for (let cell = 0; cell < r.length; cell++) if (r[cell]! + w[cell]! > 0) rows.push([names[Math.floor(cell / bins) * perRow] ?? "", cell % bins * step, r[cell]!, w[cell]!]);
    return rows;
  }

  protected describe(): string { return `${plural(this.data().names.length, this.thing)} over ${seconds(this.page.end())}.`; }
}

/** Which Lustre targets were busy when, through one layer. */
export class TargetStrips extends Strips {
  protected readonly thing = "OST";
  readonly #layer: string;

  constructor(page: Page, targets: Targets) {
    super(page, { id: page.id(`targets-${targets.layer.toLowerCase()}`), title: `Storage targets over time, ${targets.layer}`, height: rowHeight(targets.list.length), brush: "time" });
    this.#layer = targets.layer;
    this.note.textContent = `bytes on each target${shared(targets.per_row)}`;
  }

  protected data(): Rows {
    const targets = layered(this.page, this.#layer);
    return { names: targets.list.map((one) => String(one.ost)), perRow: targets.per_row, bins: targets.bins, read: targets.read, write: targets.write, unit: "bytes" };
  }
}

/** The same by the servers that targets belong to. */
export class ServerStrips extends Strips {
  protected readonly thing = "server";
  readonly #layer: string;

  constructor(page: Page, targets: Targets) {
    const { names, per_row } = targets.servers!;
    super(page, { id: page.id(`servers-${targets.layer.toLowerCase()}`), title: `Storage servers over time, ${targets.layer}`, height: rowHeight(names.length), brush: "time" });
    this.#layer = targets.layer;
    this.note.textContent = `bytes on the targets of each server${shared(per_row)}`;
  }

  protected data(): Rows {
    const { bins, servers } = layered(this.page, this.#layer), { names, per_row: perRow, read, write } = servers!;
    return { names, perRow, bins, read, write, unit: "bytes" };
  }
}

function layered(page: Page, layer: string): Targets { return page.report.targets.find((one) => one.layer === layer)!; }
function shared(perRow: number): string { return perRow > 1 ? `, ${count(perRow)} to a row` : ""; }

/** What each node moved, or how often it called. */
export class NodeStrips extends Strips {
  protected readonly thing = "node";
  #unit: "bytes" | "calls" = "bytes";

  constructor(page: Page, nodes: Nodes) {
    super(page, { id: page.id("nodes"), title: "Nodes over time", height: rowHeight(nodes.hosts.length), brush: "time" });
    const choice = h("span", { class: "choice", role: "group", "aria-label": "what of a node" });
    const update = () => renew(choice, ...(["bytes", "calls"] as const).map((unit) =>
      h("button", { type: "button", "aria-pressed": String(unit === this.#unit), click: () => { this.#unit = unit; update(); this.schedule(); } }, unit)));
    update();
    this.caption.after(choice);
    this.note.textContent = `${nodes.layer}${shared(nodes.per_row)}`;
  }

  protected data(): Rows {
    const nodes = this.page.report.nodes!, calls = this.#unit === "calls";
    return { names: nodes.hosts, perRow: nodes.per_row, bins: nodes.bins, read: calls ? nodes.reads : nodes.read, write: calls ? nodes.writes : nodes.write, unit: this.#unit };
  }
}

function rowHeight(rows: number): number { return Math.min(230, 28 + Math.max(2, rows) * 16); }

// A table that can be sorted, searched and saved; a row can be chosen.

import { h, renew } from "./element";
import { count } from "./format";
import { saveCsv } from "./save";

export interface Column<Row> {
  name: string;
  /** What is sorted by and saved. */
  value: (row: Row) => string | number;
  /** What is shown, if it is not the value. */
  text?: (row: Row) => string | Node;
  /** Whether it holds words, which may take several lines. */
  words?: boolean;
}

export interface TableOptions<Row> {
  id: string; caption: string; rows: Row[]; columns: Column<Row>[];
  /** Sorted by this column at first, numbers from the largest; -1 keeps the order of the rows. */
  sort: number;
  /** Whether a row is what was chosen or what a finding is about. */
  chosen?: (row: Row) => boolean;
  lit?: (row: Row) => boolean;
  choose?: (row: Row) => void;
  /** What more there is than rows. */
  more?: string;
}

const FEW = 12, MOST = 2000;

export class Table<Row> {
  readonly node: HTMLElement;
  readonly #options: TableOptions<Row>;
  readonly #body = h("tbody");
  readonly #head = h("tr");
  readonly #foot = h("p", { class: "more" });
  #sort: number; #up = false; #all = false; #search = "";

  constructor(options: TableOptions<Row>) {
    this.#options = options;
    this.#sort = options.sort;
    const search = h("input", { type: "search", placeholder: "search", "aria-label": `search ${options.caption}` });
    search.addEventListener("input", () => { this.#search = search.value.toLowerCase(); this.update(); });
    const saved = () => [options.columns.map((c) => c.name), ...this.#sorted().map((row) => options.columns.map((c) => c.value(row)))];
    this.node = h("div", { class: "table", id: options.id },
      h("div", { class: "bar" }, search, h("span", { class: "tools" }, h("button", { type: "button", "aria-label": `${options.caption}: save as CSV`, click: () => saveCsv(saved(), options.id) }, "CSV"))),
      h("div", { class: "scroll" }, h("table", {}, h("caption", { class: "unseen" }, options.caption), h("thead", {}, this.#head), this.#body)), this.#foot);
    this.update();
  }

  #sorted(): Row[] {
    const { columns, rows } = this.#options, by = columns[this.#sort];
    const hit = (row: Row) => !this.#search || columns.some((c) => String(c.value(row)).toLowerCase().includes(this.#search));
    if (!by) return rows.filter(hit);
    const compare = (a: Row, b: Row) => {
      const [x, y] = [by.value(a), by.value(b)];
      const order = typeof x === "number" && typeof y === "number" ? y - x : String(x).localeCompare(String(y));
      return this.#up ? -order : order;
    };
    return rows.filter(hit).sort(compare);
  }

  update(): void {
    const { columns, chosen, lit, choose, more } = this.#options;
    renew(this.#head, ...columns.map((column, at) => {
      const first = this.#options.rows[0], numeric = first !== undefined && typeof column.value(first) === "number";
      const sorted = at === this.#sort ? (numeric !== this.#up ? "descending" : "ascending") : "none";
      return h("th", { scope: "col", class: column.words ? "words" : numeric ? "number" : "", "aria-sort": sorted },
        h("button", { type: "button", click: () => this.#by(at) }, column.name));
    }));
    // What a finding is about comes first, so that it is seen without searching.
    const sorted = this.#sorted(), meant = lit ? sorted.filter(lit) : [];
    const ordered = meant.length > 0 ? [...meant, ...sorted.filter((row) => !lit!(row))] : sorted;
    const shown = ordered.slice(0, this.#all ? MOST : FEW);
    renew(this.#body, ...shown.map((row) => {
      const picked = chosen?.(row) ?? false;
      const node = h("tr", { class: [picked ? "chosen" : "", meant.length > 0 ? (lit!(row) ? "lit" : "dim") : ""].join(" ").trim() || null });
      columns.forEach((column, at) => {
        const value = column.value(row), text = column.text?.(row) ?? (typeof value === "number" ? count(value) : value);
        const inside = at === 0 && choose ? h("button", { type: "button", class: "pick", "aria-pressed": String(picked), title: String(value), click: () => choose(row) }, text) : text;
        node.append(h("td", { class: column.words ? "words" : typeof value === "number" ? "number" : "" }, inside));
      });
      return node;
    }));
    const rest = sorted.length - shown.length;
    renew(this.#foot, ...(rest > 0 && !this.#all ? [h("button", { type: "button", click: () => { this.#all = true; this.update(); } }, `show ${count(Math.min(rest, MOST - FEW))} more`)] : []),
      rest > 0 && this.#all ? `${count(rest)} more: search, or save as CSV.` : "", more ? ` ${more}` : "");
  }

  #by(at: number): void {
    this.#up = at === this.#sort ? !this.#up : false;
    this.#sort = at;
    this.update();
  }
}

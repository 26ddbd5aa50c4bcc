// What the reader has chosen. It lives in the address after `#`, so that a link brings somebody
// else to the same place and the browser's back button undoes.

export interface Selection {
  /** Seconds. */
  time: readonly [number, number] | null;
  /** First and last rank. */
  ranks: readonly [number, number] | null;
  /** Bytes; only where offsets are drawn. */
  offset: readonly [number, number] | null;
  file: number | null;
  layer: string | null;
  way: "read" | "write" | null;
  phase: number | null;
  finding: number | null;
  /** Whether what the finding is not about is hidden rather than faded. */
  only: boolean;
  /** How calls are coloured. */
  colour: "way" | "size" | "rank";
  /** Which table is open. */
  table: string;
}

export const NOTHING: Selection = {
  time: null, ranks: null, offset: null, file: null, layer: null, way: null, phase: null,
  finding: null, only: false, colour: "way", table: "files",
};

const number = (value: number) => String(Number(value.toPrecision(9)));
const pair = (value: readonly [number, number]) => `${number(value[0])}~${number(value[1])}`;

/** The part of the address after `#`; empty where nothing is chosen. */
export function encode(s: Selection): string {
  const words: string[] = [];
  const put = (key: string, value: string) => words.push(`${key}=${encodeURIComponent(value)}`);
  if (s.time) put("time", pair(s.time));
  if (s.ranks) put("ranks", pair(s.ranks));
  if (s.offset) put("offset", pair(s.offset));
  if (s.file !== null) put("file", String(s.file));
  if (s.layer !== null) put("layer", s.layer);
  if (s.way !== null) put("way", s.way);
  if (s.phase !== null) put("phase", String(s.phase));
  if (s.finding !== null) put("finding", String(s.finding));
  if (s.only) put("only", "1");
  if (s.colour !== NOTHING.colour) put("colour", s.colour);
  if (s.table !== NOTHING.table) put("table", s.table);
  return words.join("&");
}

/** Reads it back. What is not understood is left out: links outlive versions. */
export function decode(fragment: string): Selection {
  const words = new URLSearchParams(fragment.replace(/^#/, ""));
  const range = (key: string): [number, number] | null => {
    const [a, b, ...rest] = (words.get(key) ?? "").split("~").map(Number);
    if (a === undefined || b === undefined || rest.length > 0) return null;
    return Number.isFinite(a) && Number.isFinite(b) && a <= b ? [a, b] : null;
  };
  const whole = (key: string): number | null => {
    const text = words.get(key);
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
  };
  const among = <T extends string>(key: string, known: readonly T[]): T | null =>
    known.find((word) => word === words.get(key)) ?? null;
  return {
    time: range("time"), ranks: range("ranks"), offset: range("offset"),
    file: whole("file"), layer: words.get("layer"), way: among("way", ["read", "write"] as const),
    phase: whole("phase"), finding: whole("finding"), only: words.get("only") === "1",
    colour: among("colour", ["way", "size", "rank"] as const) ?? NOTHING.colour,
    table: words.get("table") ?? NOTHING.table,
  };
}

type Listener = (now: Selection, before: Selection) => void;

/** The one selection of the page. */
export class Store {
  #now: Selection;
  #listeners: Listener[] = [];
  #settle = 0;

  constructor() {
    this.#now = decode(location.hash);
    addEventListener("popstate", () => this.#tell(decode(location.hash)));
    addEventListener("hashchange", () => this.#tell(decode(location.hash)));
  }

  get now(): Selection { return this.#now; }

  listen(listener: Listener): void { this.#listeners.push(listener); }

  /** A step that can be undone. */
  choose(change: Partial<Selection>): void {
    this.#write({ ...this.#now, ...change }, "push");
  }

  /** One of many small steps (a drag, a turn of the wheel) that are undone together. */
  drift(change: Partial<Selection>): void {
    const first = Date.now() - this.#settle > 800;
    this.#settle = Date.now();
    this.#write({ ...this.#now, ...change }, first ? "push" : "replace");
  }

  undo(): void { history.back(); }

  #write(next: Selection, how: "push" | "replace"): void {
    const fragment = encode(next);
    if (fragment === encode(this.#now)) return;
    const address = fragment ? `#${fragment}` : location.pathname + location.search;
    if (how === "push") history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    this.#tell(next);
  }

  #tell(next: Selection): void {
    const before = this.#now;
    if (encode(before) === encode(next)) return;
    this.#now = next;
    for (const listener of this.#listeners) listener(next, before);
  }
}

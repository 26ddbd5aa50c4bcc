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
  /** Whether conflicts are marked where offsets are drawn. */
  conflicts: boolean;
  /** Which table is open. */
  table: string;
}

export const NOTHING: Selection = {
  time: null, ranks: null, offset: null, file: null, layer: null, way: null, phase: null,
  finding: null, only: false, colour: "way", conflicts: true, table: "files",
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
  if (!s.conflicts) put("conflicts", "0");
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
    conflicts: words.get("conflicts") !== "0",
    table: words.get("table") ?? NOTHING.table,
  };
}

type Listener = (now: Selection, before: Selection) => void;

/** How long nothing may move until the slow parts follow, in milliseconds. */
const CALM = 140;

/** The one selection of the page. */
export class Store {
  #now: Selection;
  #told: Selection;
  #listeners: Listener[] = [];
  #followers: (() => void)[] = [];
  #moving = 0;

  constructor() {
    this.#now = this.#told = decode(location.hash);
    addEventListener("popstate", () => this.#arrive());
    addEventListener("hashchange", () => this.#arrive());
  }

  get now(): Selection { return this.#now; }

  /** Whether a drag or a turn of the wheel is under way. */
  get moving(): boolean { return this.#moving !== 0; }

  /** Told when a choice is made, and once when a movement has ended: tables, charts, text. */
  listen(listener: Listener): void { this.#listeners.push(listener); }

  /** Told at every step: what must keep up with the hand. */
  follow(follower: () => void): void { this.#followers.push(follower); }

  /** A step that can be undone. */
  choose(change: Partial<Selection>): void {
    this.#rest();
    const next = { ...this.#now, ...change };
    if (encode(next) === encode(this.#now)) return;
    this.#now = next;
    history.pushState(null, "", address(next));
    this.#tell();
  }

  /** One of many small steps (a drag, a turn of the wheel) that are undone together. The address
   *  is written at the first and when all is calm again: browsers refuse more. */
  drift(change: Partial<Selection>): void {
    const next = { ...this.#now, ...change };
    if (encode(next) === encode(this.#now)) return;
    const first = !this.moving;
    this.#now = next;
    if (first) history.pushState(null, "", address(next));
    clearTimeout(this.#moving);
    this.#moving = setTimeout(() => this.#rest(), CALM) as unknown as number;
    for (const follower of this.#followers) follower();
  }

  undo(): void { this.#rest(); history.back(); }

  /** Ends a movement: the address and the slow parts catch up. */
  #rest(): void {
    if (!this.moving) return;
    clearTimeout(this.#moving);
    this.#moving = 0;
    history.replaceState(null, "", address(this.#now));
    this.#tell();
  }

  #arrive(): void {
    clearTimeout(this.#moving);
    this.#moving = 0;
    this.#now = decode(location.hash);
    this.#tell();
  }

  #tell(): void {
    const before = this.#told;
    if (encode(before) === encode(this.#now)) return;
    this.#told = this.#now;
    for (const follower of this.#followers) follower();
    for (const listener of this.#listeners) listener(this.#now, before);
  }
}

function address(s: Selection): string {
  const fragment = encode(s);
  return fragment ? `#${fragment}` : location.pathname + location.search;
}

// Unpacks the columns of a report. The bytes of a column are stored by weight, in planes: all lowest
// ones, all second ones, and so on, because equal bytes side by side compress several times better.
// Planes of noise are not compressed, those of zeros not stored, nor are zeros at the end of a column. Where values
// repeat for long, the runs are stored: a value of each, and the length of each.

import type { ColumnPlace } from "./model";

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

const WIDTH = { u8: 1, u16: 2, u32: 4, u64: 8, f32: 4, ticks: 4 } as const;

export class Columns {
  #bytes: Uint8Array;
  #places: Record<string, ColumnPlace>;
  #made = new Map<string, Numbers>();

  constructor(bytes: Uint8Array, places: Record<string, ColumnPlace>) {
    this.#bytes = bytes;
    this.#places = places;
  }

  /** A column by its name; unpacked when first asked for. */
  get(name: string): Numbers {
    const known = this.#made.get(name);
    if (known) return known;
    const place = this.#places[name];
    if (!place) throw new Error(`the report has no column ${name}`);
    const made = unpack(this.#bytes, place);
    this.#made.set(name, made);
    return made;
  }
}

/** Decodes one column. */
export function unpack(bytes: Uint8Array, place: ColumnPlace): Numbers {
  const { kept, runs, planes } = place;
  const stored = runs ?? kept;
  const plane = (n: number) => {
    const at = planes[n] ?? null;
    if (at === null) return new Uint8Array(stored);
    if (at + stored > bytes.length) throw new Error("the report is cut short");
    return bytes.subarray(at, at + stored);
  };
  if (runs === undefined) return decode(place, plane, place.count);
  return repeated(decode(place, plane, runs), pairs(plane, WIDTH[place.type], runs), place.count);
}

/** So many values from the planes of their bytes; those that are not stored are zero. */
function decode(place: ColumnPlace, plane: (n: number) => Uint8Array, count: number): Numbers {
  switch (place.type) {
    case "u8": { const out = new Uint8Array(count); out.set(plane(0)); return out; }
    case "u16": return pairs(plane, 0, count);
    case "f32": return new Float32Array(words(plane, 0, count).buffer);
    case "u32": return summed(words(plane, 0, count), place.delta);
    case "ticks": return Float64Array.from(summed(words(plane, 0, count), place.delta), (v) => v * place.tick!);
    case "u64": {
      const low = words(plane, 0, count), high = words(plane, 4, count);
      return Float64Array.from(low, (v, i) => high[i]! * 2 ** 32 + v);
    }
  }
}

/** Each value as often as its run is long. */
function repeated<T extends Numbers>(values: T, lengths: Uint16Array, count: number): T {
  const out = new (values.constructor as new (count: number) => T)(count);
  let from = 0;
  for (let i = 0; i < lengths.length; i++) out.fill(values[i]!, from, from += lengths[i]!);
  return out;
}

function pairs(plane: (n: number) => Uint8Array, first: number, count: number): Uint16Array {
  const low = plane(first), high = plane(first + 1);
  const out = new Uint16Array(count);
  for (let i = 0; i < low.length; i++) out[i] = low[i]! | high[i]! << 8;
  return out;
}

function words(plane: (n: number) => Uint8Array, first: number, count: number): Uint32Array {
  const [a, b, c, d] = [plane(first), plane(first + 1), plane(first + 2), plane(first + 3)];
  const out = new Uint32Array(count);
  for (let i = 0; i < a.length; i++) out[i] = a[i]! | b[i]! << 8 | c[i]! << 16 | d[i]! << 24;
  return out;
}

/** Undoes differences; they wrap around at 2^32 as the writer's do. */
function summed(values: Uint32Array, delta: boolean | undefined): Uint32Array {
  if (delta) for (let i = 1; i < values.length; i++) values[i] = values[i]! + values[i - 1]!;
  return values;
}

/** The packed part of the page: what is not compressed, and what is; both in base64. */
export async function inflate(text: string): Promise<Uint8Array> {
  const [noise, packed] = text.trim().split(".").map(bytesOf);
  if (!noise || !packed) throw new Error("the report is cut short");
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const rest = new Uint8Array(await new Response(stream).arrayBuffer());
  const all = new Uint8Array(noise.length + rest.length);
  all.set(noise);
  all.set(rest, noise.length);
  return all;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

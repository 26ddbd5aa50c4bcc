// The pictures of a running job: what moves, how many calls, how long they take, what the nodes do. All on
// the axis of time that the report's pictures have.

import type { Page } from "../page";
import type { Percentiles } from "./model";
import { Bands, type Band, type Line } from "./bands";
import type { History } from "./history";
import { bytes, count, seconds } from "../format";

const perSecond = (text: (value: number) => string) => (value: number) => `${text(value)}/s`;

export function pictures(page: Page, history: History): Bands[] {
  return [
    new Bands(page, "live-throughput", "Throughput", "bytes a second by layer; reads blue, writes orange", () => throughput(page, history)),
    new Bands(page, "live-calls", "Calls", "calls a second by layer; reads, writes, metadata, syncs", () => calls(page, history)),
    new Bands(page, "live-durations", "Durations", "what half, 95 and 99 of 100 reads and writes do not exceed (POSIX, STDIO)", () => durations(page, history)),
    new Bands(page, "live-system", "The nodes", "what the system does meanwhile", () => system(page, history)),
  ];
}

/** Calls and bytes of every step by layer and way, in one walk; `of` gives a row of them as a rate. Nothing is left out, so that zero is zero. */
function moved(history: History): { used: number[]; of: (layer: number, way: number, part: 2 | 3) => Float64Array } {
  const { count, index } = history.grid(), all = new Map<number, Float64Array>(), used = new Set<number>(), { width } = history;
  const row = (layer: number, way: number, part: number) => {
    const key = (layer * 4 + way) * 2 + part - 2, had = all.get(key) ?? new Float64Array(count);
    all.set(key, had);
    return had;
  };
  for (const step of history.steps()) {
    const at = index(step.at);
    for (const cell of step.cells) {
      used.add(cell[0]);
      row(cell[0], cell[1], 2)[at]! += cell[2] / width;
      row(cell[0], cell[1], 3)[at]! += cell[3] / width;
    }
  }
  return { used: [...used].sort((a, b) => b - a), of: row };
}

const isUsed = (band: Band) => band.lines.some((line) => line.values.some((value) => value > 0));

function throughput(page: Page, history: History): Band[] {
  const t = page.theme, { used, of } = moved(history), { first } = history.grid();
  const line = (layer: number, way: 0 | 1): Line => ({ name: way === 0 ? "read" : "written", colour: t.css(way === 0 ? t.read : t.write), values: of(layer, way, 3) });
  return used.map((layer): Band => ({
    name: history.last!.layers[layer]!, kind: "stack", first, width: history.width, text: perSecond(bytes), lines: [line(layer, 1), line(layer, 0)],
  })).filter(isUsed);
}

function calls(page: Page, history: History): Band[] {
  const t = page.theme, colours = [t.css(t.read), t.css(t.write), t.css(t.meta), t.css(t.alarm)], { used, of } = moved(history), { first } = history.grid();
  return used.map((layer): Band => ({
    name: history.last!.layers[layer]!, kind: "stack", first, width: history.width, text: perSecond(count),
    lines: [1, 0, 2, 3].map((way) => ({ name: history.last!.ways[way]!, colour: colours[way]!, values: of(layer, way, 2) })),
  }));
}

function durations(page: Page, history: History): Band[] {
  const t = page.theme, { width } = history, steps = history.steps(), { first, count: all, index } = history.grid();
  const shades = [0.35, 0.65, 1] as const, names = ["half", "95 of 100", "99 of 100"];
  return ([0, 1] as const).map((way): Band => {
    const lines = ([1, 2, 3] as const).map((_, at) => ({ name: names[at]!, colour: faint(t.css(way === 0 ? t.read : t.write), shades[at]!), values: new Float64Array(all).fill(NaN) }));
    for (const step of steps) {
      const found = step.latency[way];
      if (found) for (const at of [0, 1, 2] as const) lines[at]!.values[index(step.at)] = found[at + 1]!;
    }
    return { name: way === 0 ? "reads" : "writes", kind: "lines", first, width, text: (value) => seconds(value / 1e9), lines };
  }).filter(isUsed);
}

function faint(colour: string, share: number): string { return colour.replace(")", ` / ${share})`); }

/** How the numbers of a unit read. */
function text(unit: string): (value: number) => string {
  switch (unit) {
    case "B": return bytes;
    case "B/s": return perSecond(bytes);
    // Milliseconds or microseconds of a second: how much of the time.
    case "ms/s": return (value) => `${(value / 1000).toFixed(2)} cores`;
    // Two clocks are never quite alike: nothing presses more than all the time.
    case "µs/s": return (value) => `${Math.min(100, Math.round(value / 1e4))} %`;
    default: return (value) => `${count(value)} ${unit}`;
  }
}

const COLOURS = ["read", "write", "meta", "alarm"] as const;

/** A band for each group of metrics, its devices added up; of several nodes the mean of all, since a picture of a
 *  thousand lines says nothing. */
function system(page: Page, history: History): Band[] {
  const t = page.theme, all = history.metrics().filter(({ times }) => times.length > 0), groups = new Map<string, typeof all>();
  for (const one of all) groups.set(one.about.group, [...groups.get(one.about.group) ?? [], one]);
  const many = Math.max(1, new Set(all.map(({ about }) => about.host)).size);
  return [...groups].map(([name, members]): Band => {
    const width = Math.max(...members.map(({ about }) => about.width)), from = Math.floor(Math.min(...members.map(({ times }) => times[0]!)) / width);
    const steps = Math.floor(Math.max(...members.map(({ times }) => times.at(-1)!)) / width) - from + 1, lines = new Map<string, Float64Array>();
    for (const { about, times, values } of members) {
      const sums = lines.get(about.name) ?? new Float64Array(steps).fill(NaN);
      // Short steps in a long one are its mean.
      times.forEach((time, at) => { const step = Math.floor(time / width) - from, had = sums[step]!; sums[step] = (Number.isNaN(had) ? 0 : had) + values[at]! * about.width / width / many; });
      lines.set(about.name, sums);
    }
    return {
      name, kind: "lines", first: from * width - history.start, width, text: text(members[0]!.about.unit),
      lines: [...lines].map(([metric, values], at) => ({ name: metric.replace(/^[^.]*\./, "").replace(/_(bytes|ms|us)$/, "").replaceAll("_", " "), colour: t.css(t[COLOURS[at % COLOURS.length]!]), values })),
    };
  }).filter(isUsed);
}

/** Percentiles of a whole run in words. */
export function spoken(found: Percentiles | null): string {
  return found ? `${seconds(found[1] / 1e9)} · ${seconds(found[2] / 1e9)} · ${seconds(found[3] / 1e9)}` : "–";
}

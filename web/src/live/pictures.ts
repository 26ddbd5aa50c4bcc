// The pictures of a running job: what moves, how many calls, how long they take, what the nodes do. All on
// the axis of time that the report's pictures have.

import type { Page } from "../page";
import type { Percentiles } from "./model";
import { Bands, type Band, type Line } from "./bands";
import { type History, layersUsed, percentile, sum } from "./history";
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

/** Points of one number of every step, as a rate; nothing is left out, so that zero is zero. */
function rates(history: History, layer: number, way: number, part: 2 | 3): { time: number; value: number }[] {
  const { start, width } = history;
  return history.steps().map((step) => ({ time: step.at - start, value: sum(step, layer, way, part) / width }));
}

function throughput(page: Page, history: History): Band[] {
  const t = page.theme, used = layersUsed(history.steps());
  const line = (layer: number, way: 0 | 1): Line => ({ name: way === 0 ? "read" : "written", colour: t.css(way === 0 ? t.read : t.write), points: rates(history, layer, way, 3) });
  return used.map((layer): Band => ({
    name: history.last!.layers[layer]!, kind: "stack", width: history.width, text: perSecond(bytes), lines: [line(layer, 1), line(layer, 0)],
  })).filter((band) => band.lines.some((one) => one.points.some((point) => point.value > 0)));
}

function calls(page: Page, history: History): Band[] {
  const t = page.theme, colours = [t.css(t.read), t.css(t.write), t.css(t.meta), t.css(t.alarm)];
  return layersUsed(history.steps()).map((layer): Band => ({
    name: history.last!.layers[layer]!, kind: "stack", width: history.width, text: perSecond(count),
    lines: [1, 0, 2, 3].map((way) => ({ name: history.last!.ways[way]!, colour: colours[way]!, points: rates(history, layer, way, 2) })),
  }));
}

function durations(page: Page, history: History): Band[] {
  const t = page.theme, { start, width } = history, steps = history.steps();
  const shades = [0.35, 0.65, 1] as const, names = ["half", "95 of 100", "99 of 100"];
  return ([0, 1] as const).map((way): Band => ({
    name: way === 0 ? "reads" : "writes", kind: "lines", width, text: (value) => seconds(value / 1e9),
    lines: ([1, 2, 3] as const).map((which, at) => ({
      name: names[at]!, colour: faint(t.css(way === 0 ? t.read : t.write), shades[at]!),
      points: steps.flatMap((step) => { const value = percentile(step, way, which); return value === null ? [] : [{ time: step.at - start, value }]; }),
    })),
  })).filter((band) => band.lines.some((line) => line.points.length > 0));
}

function faint(colour: string, share: number): string { return colour.replace(")", ` / ${share})`); }

/** How the numbers of a unit read. */
function text(unit: string): (value: number) => string {
  switch (unit) {
    case "B": return bytes;
    case "B/s": return perSecond(bytes);
    // Milliseconds or microseconds of a second: how much of the time.
    case "ms/s": return (value) => `${(value / 1000).toFixed(2)} cores`;
    case "µs/s": return (value) => `${Math.round(value / 1e4)} %`;
    default: return (value) => `${count(value)} ${unit}`;
  }
}

const COLOURS = ["read", "write", "meta", "alarm"] as const;

/** A band for each group of metrics, its devices added up; of several nodes the mean of all, since a picture of a
 *  thousand lines says nothing. */
function system(page: Page, history: History): Band[] {
  const t = page.theme, groups = new Map<string, Map<string, Map<number, number>>>(), units = new Map<string, string>(), widths = new Map<string, number>(), hosts = new Set<string>();
  for (const { about, points } of history.metrics()) {
    hosts.add(about.host);
    const title = about.group, names = groups.get(title) ?? new Map<string, Map<number, number>>();
    const sums = names.get(about.name) ?? new Map<number, number>();
    for (const point of points) sums.set(point.time, (sums.get(point.time) ?? 0) + point.value);
    names.set(about.name, sums); groups.set(title, names); units.set(title, about.unit); widths.set(title, Math.max(about.width, widths.get(title) ?? 1));
  }
  const many = Math.max(1, hosts.size);
  return [...groups].map(([title, names]): Band => ({
    name: title, kind: "lines", width: widths.get(title)!, text: text(units.get(title)!),
    lines: [...names].map(([name, sums], at) => ({
      name: name.replace(/^[^.]*\./, "").replace(/_(bytes|ms|us)$/, "").replaceAll("_", " "), colour: t.css(t[COLOURS[at % COLOURS.length]!]),
      points: [...sums].sort((a, b) => a[0] - b[0]).map(([time, value]) => ({ time, value: value / many })),
    })),
  })).filter((band) => band.lines.some((line) => line.points.some((point) => point.value > 0)));
}

/** Percentiles of a whole run in words. */
export function spoken(found: Percentiles | null): string {
  return found ? `${seconds(found[1] / 1e9)} · ${seconds(found[2] / 1e9)} · ${seconds(found[3] / 1e9)}` : "–";
}

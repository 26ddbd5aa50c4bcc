// What needs no browser: packed columns, addresses, numbers, scales, queries, files.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Columns, inflate, unpack } from "../src/column";
import { blocks } from "../src/heat";
import { bytes, percent, rate, seconds, sentence, tick } from "../src/format";
import { cell, csv } from "../src/save";
import { linear, log, niceTicks } from "../src/scale";
import { NOTHING, decode, encode } from "../src/selection";
import { Image } from "../src/paint";
import { answer, gathered, type Facts } from "../src/query";
import { search } from "../src/marks";
import { sizeBin } from "../src/raster";
import type { ColumnPlace, View } from "../src/model";
import type { Cell, Percentiles, Update } from "../src/live/model";
import { History, percentile, sum } from "../src/live/history";
import { trust } from "../src/live/strip";
import { why } from "../src/live/runs";
import { duration } from "../src/live/words";

test("columns are unpacked from planes of bytes", () => {
  const bytes = Uint8Array.of(2, 4, 1, 3, 5, 2, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff);
  const planes = [4, 7, 10, 13];
  assert.deepEqual([...unpack(bytes, { type: "u16", count: 2, kept: 2, planes: [0, 2] })], [0x0102, 0x0304]);
  assert.deepEqual([...unpack(bytes, { type: "u32", count: 3, kept: 3, delta: true, planes })], [5, 7, 6]);
  assert.deepEqual([...unpack(bytes, { type: "ticks", count: 3, kept: 3, delta: true, tick: 0.5, planes })], [2.5, 3.5, 3]);
});

test("what is not stored of a column is zero", () => {
  const bytes = Uint8Array.of(2, 4, 1, 3, 5);
  assert.deepEqual([...unpack(bytes, { type: "u8", count: 3, kept: 1, planes: [0] })], [2, 0, 0]);
  assert.deepEqual([...unpack(bytes, { type: "u8", count: 2, kept: 0, planes: [null] })], [0, 0]);
  assert.deepEqual([...unpack(bytes, { type: "u16", count: 4, kept: 2, planes: [0, 2] })], [0x0102, 0x0304, 0, 0]);
  assert.deepEqual([...unpack(bytes, { type: "u16", count: 2, kept: 2, planes: [null, 2] })], [0x0100, 0x0300]);
  assert.deepEqual([...unpack(bytes, { type: "f32", count: 2, kept: 0, planes: [null, null, null, null] })], [0, 0]);
  assert.deepEqual([...unpack(bytes, { type: "u32", count: 3, kept: 1, delta: true, planes: [4, null, null, null] })], [5, 5, 5]);
});

test("wide numbers keep their upper half", () => {
  const planes = [1, null, null, null, 0, null, null, null];
  assert.deepEqual([...unpack(Uint8Array.of(2, 1), { type: "u64", count: 1, kept: 1, planes })], [1 + 2 * 2 ** 32]);
});

test("runs are unpacked to as many values as they are long", () => {
  const bytes = Uint8Array.from([9, 7, 1, 2, 4, 2, 4, 0, 1, 0x80, 0x3f, 3]);
  const long = unpack(bytes, { type: "u16", count: 300, kept: 262, runs: 2, planes: [1, 3, 5, 7] });
  assert.deepEqual([long.length, long[0], long[1], long[2], long[261], long[262]], [300, 0x0207, 0x0207, 0x0401, 0x0401, 0]);
  const one: ColumnPlace = { type: "f32", count: 4, kept: 3, runs: 1, planes: [null, null, 9, 10, 11, null] };
  assert.deepEqual([...unpack(bytes, one)], [1, 1, 1, 0]);
  assert.throws(() => unpack(bytes, { ...one, planes: [null, null, 9, 10, 12, null] }), /cut short/);
});

test("a column beyond the end is refused", () => {
  assert.throws(() => unpack(new Uint8Array(7), { type: "u64", count: 1, kept: 1, planes: [0, 1, 2, 3, 4, 5, 6, 7] }), /cut short/);
  assert.throws(() => new Columns(new Uint8Array(0), {}).get("x"), /no column x/);
});

test("the packed part is bytes as they are, and gzip; both in base64", async () => {
  assert.deepEqual([...await inflate("\nBwg=.H4sIAAAAAAACA2NkYgYAHYC8VQMAAAA=\n")], [7, 8, 1, 2, 3]);
  assert.deepEqual([...await inflate(".H4sIAAAAAAACA2NkYgYAHYC8VQMAAAA=")], [1, 2, 3]);
  await assert.rejects(inflate("Bwg=.H4sI"));
  await assert.rejects(inflate("H4sI"), /cut short/);
});

test("an address brings back what was chosen", () => {
  const chosen = { ...NOTHING, time: [0.125, 7.5] as const, ranks: [3, 9] as const, file: 4, layer: "MPI-IO", way: "read" as const, finding: 1, only: true, colour: "size" as const, conflicts: false, table: "ranks" };
  assert.equal(encode(chosen), "time=0.125~7.5&ranks=3~9&file=4&layer=MPI-IO&way=read&finding=1&only=1&colour=size&conflicts=0&table=ranks");
  assert.deepEqual(decode(`#${encode(chosen)}`), chosen);
  assert.deepEqual(decode(""), NOTHING);
});

test("an address that is not understood chooses nothing", () => {
  assert.deepEqual(decode("#time=9~1&ranks=a~b&file=-1&way=sideways&offset=1~2~3&phase=1e9"), NOTHING);
});

test("numbers read as in the terminal report", () => {
  assert.deepEqual([0, 512, 1536, 12.3 * 2 ** 20, 1023.9 * 1024].map(bytes), ["0 B", "512 B", "1.50 KiB", "12.3 MiB", "1.00 MiB"]);
  assert.deepEqual([0, 778.4, 1.5e-3, 2e-6, 3e-9, 35283].map(seconds), ["0 s", "778 s", "1.50 ms", "2.00 µs", "3.00 ns", "35283 s"]);
  assert.deepEqual([0, 0.0004, 0.003, 0.426, 0.99806, 1].map(percent), ["0 %", "below 0.1 %", "0.3 %", "43 %", "99.8 %", "100 %"]);
  assert.equal(rate(2 ** 20, 2), "512 KiB/s");
  assert.equal(rate(1, 0), "–");
  assert.equal(tick(0.25, 0.05), "250 ms");
  assert.equal(sentence("yes: 3 s of 5 % in 2 GiB"), "Yes: 3\u00a0s of 5\u00a0% in 2\u00a0GiB");
});

test("ticks are round", () => {
  assert.deepEqual(niceTicks(0, 14, 8, 10), { values: [0, 2, 4, 6, 8, 10, 12, 14], step: 2 });
  assert.deepEqual(niceTicks(0, 4096, 4, 1024).values, [0, 1024, 2048, 3072, 4096]);
  assert.deepEqual(niceTicks(3, 3, 4, 10).values, [3]);
});

test("scales go there and back", () => {
  const x = linear([10, 20], [0, 100]);
  assert.equal(x.at(15), 50);
  assert.equal(x.value(50), 15);
  const y = log([1e-3, 1e3], [60, 0]);
  assert.ok(Math.abs(y.at(1) - 30) < 1e-9);
  assert.ok(Math.abs(y.value(30) - 1) < 1e-9);
});

test("a pixel covers every cell below it, and every cell has a pixel", () => {
  assert.deepEqual([...blocks(2, 0, 4, 4)], [0, 1, 2, 3]);
  assert.deepEqual([...blocks(4, 0, 2, 2)], [0, 0, 0, 0, 1, 1, 1, 1]);
  const seen = new Set<number>(), all = blocks(200, 0, 511, 511);
  for (let p = 0; p < 200; p++) for (let c = all[2 * p]!; c <= all[2 * p + 1]!; c++) seen.add(c);
  assert.equal(seen.size, 511);
});

test("a size equal to a bound is inside", () => {
  assert.deepEqual([0, 100, 101, 1 << 20, (1 << 20) + 1, 2 ** 30 + 1].map(sizeBin), [0, 0, 1, 4, 5, 9]);
});

test("a table file quotes what would be misread", () => {
  assert.equal(csv([["a", 'b"c'], [1.5, "x,y"]]), 'a,"b""c"\r\n1.5,"x,y"\r\n');
  assert.equal(cell("=cmd()"), "'=cmd()");
  assert.equal(cell(-1), "-1");
});

/** A view of a table `t` with everything left out that a test does not name. */
const view = (parts: Partial<View>): View => ({
  slug: "v", title: "V", note: "", from: "t", where: null, group: null, sort: null, down: false, limit: null,
  chart: { kind: "bars", unit: "count", scale: "linear", axis: "", x: ["column", "name"], per: null, most: 128, median: false },
  series: [{ name: "n", colour: "plain", value: ["column", "n"] }], ...parts,
});

const table: Facts = {
  count: 4, lit: (row) => row === 2,
  column: (name) => ({ name: ["a", "b", "a", "c"], n: [1, 2, 3, 40], layer: ["x", "x", "y", "y"] })[name]!,
};

test("a query filters, groups, sorts and cuts", () => {
  const [only] = answer(view({ where: [">", ["column", "n"], ["number", 1]], sort: ["column", "n"], down: true, limit: 2 }), table);
  assert.deepEqual(only!.rows.map((row) => [row.x, row.values[0]]), [["c", 40], ["a", 3]]);
  const [grouped] = answer(view({ group: ["column", "name"], series: [{ name: "all", colour: "plain", value: ["sum", ["column", "n"]] }, { name: "rows", colour: "plain", value: ["count", ["number", 1]] }] }), table);
  assert.deepEqual(grouped!.rows, [{ x: "a", values: [4, 2], lit: true }, { x: "b", values: [2, 1], lit: false }, { x: "c", values: [40, 1], lit: false }]);
});

test("a query makes a chart for each value, and knows arithmetic and conditions", () => {
  const charts = answer(view({ chart: { ...view({}).chart, per: ["column", "layer"] }, series: [{ name: "half", colour: "plain", value: ["/", ["column", "n"], ["number", 2]] }] }), table);
  assert.deepEqual(charts.map((one) => [one.name, one.rows.map((row) => row.values[0])]), [["x", [0.5, 1]], ["y", [1.5, 20]]]);
  const both = answer(view({ where: ["or", ["=", ["column", "name"], ["text", "b"]], ["and", [">=", ["column", "n"], ["number", 3]], ["!=", ["column", "layer"], ["text", "x"]]]] }), table);
  assert.deepEqual(both[0]!.rows.map((row) => row.values[0]), [2, 3, 40]);
  const rows = [["median", 3], ["mean", 11.5], ["min", 1], ["max", 40]].map(([name]) => answer(view({ group: ["number", 0], series: [{ name: "n", colour: "plain", value: [name as string, ["column", "n"]] }] }), table)[0]!.rows[0]!.values[0]);
  assert.deepEqual(rows, [3, 11.5, 1, 40]);
});

test("too many bars are the largest of their neighbours", () => {
  const rows = [5, 1, 9, 2, 3].map((value, at) => ({ x: at, values: [value], lit: at === 3 }));
  assert.deepEqual(gathered(rows, 3), { per: 2, rows: [{ x: 0, values: [5], lit: false }, { x: 2, values: [9], lit: true }, { x: 4, values: [3], lit: false }] });
  assert.equal(gathered(rows, 5).per, 1);
});

test("a time is found in an ascending row", () => {
  const row = Float64Array.of(1, 2, 2, 5);
  assert.deepEqual([0, 2, 3, 6].map((value) => search(row, value, false)), [0, 1, 3, 4]);
  assert.deepEqual([0, 2, 3, 6].map((value) => search(row, value, true)), [0, 3, 3, 4]);
});

test("bars are cut at the image's border, and the pointer finds the nearest", () => {
  (globalThis as { ImageData?: unknown }).ImageData ??= class { readonly data: Uint8ClampedArray; constructor(readonly width: number, readonly height: number) { this.data = new Uint8ClampedArray(width * height * 4); } };
  const image = new Image(6, 4);
  image.clear(7);
  image.bar(-3, 1, 2, 9, 5, 42);
  assert.deepEqual([...image.colour.subarray(12, 18)], [5, 5, 7, 7, 7, 7]);
  assert.equal(image.near(3, 3, 3), 42);
  assert.equal(image.near(5, 0, 2), -1);
  const tall = new Image(6, 8);
  tall.spread(image, 7, 1);
  // The first line lies at the bottom.
  assert.deepEqual([...tall.colour.subarray(0, 2)], [5, 5]);
  assert.deepEqual([...tall.colour.subarray(42, 44)], [7, 7]);
});

const update = (change: Partial<Update>): Update => ({
  job: "slurm.7", uid: 1000, user: null, command: "app", exe: null, state: "running", start: 100.5, end: null, elapsed: 10, ranks: 1, processes: 1, hosts: ["n1"],
  bytes_read: 0, bytes_written: 0, reads: 0, writes: 0, read_rate: 0, write_rate: 0, call_rate: 0, share: 0, findings: { high: 0, warn: 0, info: 0 }, worst: null, lag: 0,
  completeness: { complete: false, produced: 0, delivered: 0, in_flight: 0, dropped: [], missed_here: 0 },
  now: 110, since: 0, newest: 0, layers: ["POSIX", "STDIO"], ways: ["read", "write"], width: 1, steps: [], latency: [], ranks_list: [], files: [], file_count: 0, metrics: [],
  diagnosis: { number: 0, at: 0, took: 0, failed: null, standings: [], related: [] }, ...change,
});

test("a job's history is put together from what is told piece by piece", () => {
  const history = new History(), step = (at: number, moved: number) => ({ at, cells: [[0, 1, 1, moved, 5]] as Cell[], latency: [null, [1, 10, 20, 30] as Percentiles] });
  const metric = (points: [number, number][], width = 1) => ({ host: "n1", target: "", name: "cpu.user_ms", group: "processor", unit: "ms/s", width, points });
  history.take(update({ steps: [step(102, 7), step(101, 5)], metrics: [metric([[101, 1]])] }));
  history.take(update({ since: 3, steps: [step(102, 9), step(103, 1)], metrics: [metric([[102, 2]])] }));
  assert.deepEqual(history.steps().map((one) => [one.at, sum(one, 0, 1, 3)]), [[101, 5], [102, 9], [103, 1]]);
  const measured = () => history.metrics().map(({ times, values }) => times.map((time, at) => [time, values[at]]));
  assert.deepEqual(measured(), [[[101, 1], [102, 2]]]);
  // What comes late has its place all the same, and what comes again replaces.
  history.take(update({ since: 4, metrics: [metric([[100, 7], [102, 3]])] }));
  assert.deepEqual(measured(), [[[100, 7], [101, 1], [102, 3]]]);
  const { first, count: steps, index } = history.grid();
  assert.deepEqual([first, steps, index(103)], [0.5, 3, 2]);
  assert.equal(percentile(history.at(1)!, 1, 3), 30);
  assert.equal(percentile(history.at(1)!, 0, 3), null);
  assert.equal(history.at(50), null);
  // Longer steps replace the short ones, also of metrics; a server that begins anew tells everything.
  history.take(update({ since: 8, metrics: [metric([[100, 1.5]], 2)] }));
  assert.deepEqual(measured(), [[[100, 1.5]]]);
  history.take(update({ since: 9, width: 2, steps: [step(100, 5), step(102, 10)] }));
  assert.deepEqual(history.steps().map((one) => one.at), [100, 102]);
  assert.equal(history.at(3)!.at, 102);
  history.take(update({ steps: [step(101, 1)] }));
  assert.deepEqual(history.steps().map((one) => one.at), [101]);
  assert.deepEqual(history.metrics(), []);
});

test("a page that stands still shows what there was, and all of it when it goes on", () => {
  const history = new History(), step = (at: number) => ({ at, cells: [] as Cell[], latency: [] }), metric = { host: "n1", target: "", name: "m", group: "g", unit: "B", width: 1 };
  history.take(update({ elapsed: 1, steps: [step(100)], metrics: [{ ...metric, points: [[100, 1]] }] }));
  history.hold(true);
  history.take(update({ since: 1, elapsed: 2, steps: [step(101)], metrics: [{ ...metric, points: [[101, 1]] }] }));
  history.hold(true);
  const seen = () => [history.end, history.steps().length, history.metrics()[0]!.times.length, history.newest!.elapsed];
  assert.deepEqual(seen(), [1, 1, 1, 2]);
  history.hold(false);
  assert.deepEqual(seen(), [2, 2, 2, 2]);
});

test("findings stand from when they came to when they went", () => {
  const history = new History(), one = (slug: string, since: number, gone: number | null) => ({ slug, number: 0, title: slug, level: "WARN" as const, says: "", lost: 0, since, changed: since, gone });
  history.take(update({ diagnosis: { number: 2, at: 0, took: 0, failed: null, standings: [one("a", 102, null), one("b", 101, 105)], related: [] } }));
  const at = (time: number) => history.standing(time).map((found) => found.slug);
  assert.deepEqual([at(0), at(1), at(2), at(6)], [[], ["b"], ["a", "b"], ["a"]]);
});

test("what is missing of a job is said in a few words", () => {
  const found = { complete: false, produced: 10, delivered: 8, in_flight: 2, dropped: [{ reason: "budget", says: "", events: 3 }, { reason: "excluded", says: "", events: 9 }], missed_here: 0 };
  assert.equal(trust(found), "8 of 10, 3 lost");
  assert.equal(trust({ ...found, complete: true }), "all 10");
  assert.equal(trust({ ...found, delivered: 10, dropped: [] }), "10 so far");
});

test("long times are read in minutes, hours and days", () => {
  assert.equal(duration(0.05), "50.0 ms");
  assert.equal(duration(119), "119 s");
  assert.equal(duration(150), "2 min");
  assert.equal(duration(3700), "1 h 1 min");
  assert.equal(duration(90061), "1 d 1 h");
});

test("what is unusual about a run is said in words", () => {
  const run = { unusual: [{ measure: "io_seconds", value: 90, factor: 9 }, { measure: "write_rate", value: 1024, factor: 0.1 }, { measure: "finding", finding: "slow-ost" }] };
  assert.equal(why(run), "time in calls, slowest rank 90.0 s, 9.0 times the middle; writing, a process 1.00 KiB/s, 10.0 times less than the middle; slow-ost, which few others have");
  assert.equal(why({ unusual: null }), "");
});

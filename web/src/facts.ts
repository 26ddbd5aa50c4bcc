// The tables that views ask (crates/show/src/view/table.rs names them), filled from the report and
// what is chosen.

import type { Page } from "./page";
import type { Facts, Value } from "./query";
import { sizeBin } from "./raster";

/** A column for each name, made when it is asked for. */
function table(count: number, columns: Record<string, (row: number) => Value>, rest: Partial<Facts> = {}): Facts {
  const made = new Map<string, Value[]>();
  return {
    count, ...rest,
    column(name) {
      const known = made.get(name), make = columns[name];
      if (known) return known;
      if (!make) throw new Error(`there is no column ${name}`);
      const values = Array.from({ length: count }, (_, row) => make(row));
      made.set(name, values);
      return values;
    },
  };
}

const total = (parts: readonly number[]) => parts.reduce((a, b) => a + b, 0);

/** The selection's part of a table, if anything in it is chosen. */
const MAKERS: Record<string, (page: Page) => Facts> = {
  layers: ({ report: { layers } }) => table(layers.length, {
    layer: (i) => layers[i]!.name, files: (i) => layers[i]!.files, reads: (i) => layers[i]!.reads, writes: (i) => layers[i]!.writes, opens: (i) => layers[i]!.opens,
    bytes_read: (i) => layers[i]!.bytes_read, bytes_written: (i) => layers[i]!.bytes_written,
    read_seconds: (i) => layers[i]!.seconds[0], write_seconds: (i) => layers[i]!.seconds[1], metadata_seconds: (i) => layers[i]!.seconds[2], seconds: (i) => total(layers[i]!.seconds),
  }),
  files,
  ranks,
  sizes,
  functions: ({ report: { functions } }) => table(functions.length, {
    layer: (i) => functions[i]!.layer, function: (i) => functions[i]!.name, calls: (i) => functions[i]!.calls, seconds: (i) => functions[i]!.seconds ?? 0,
  }),
  sites: ({ report: { sites } }) => table(sites.length, {
    site: (i) => `${sites[i]!.site}: ${sites[i]!.function}`, source: (i) => sites[i]!.source ?? "", function: (i) => sites[i]!.function, calls: (i) => sites[i]!.calls, seconds: (i) => sites[i]!.seconds, bytes: (i) => sites[i]!.bytes,
  }),
  phases: ({ report }) => {
    const list = report.phases?.list ?? [];
    return table(list.length, {
      phase: (i) => i + 1, start: (i) => list[i]!.start, seconds: (i) => list[i]!.end - list[i]!.start, calls: (i) => list[i]!.calls, ranks: (i) => list[i]!.ranks,
      bytes_read: (i) => list[i]!.bytes_read, bytes_written: (i) => list[i]!.bytes_written,
      slowest_rank: (i) => list[i]!.slowest[0], slowest_seconds: (i) => list[i]!.slowest[1], fastest_rank: (i) => list[i]!.fastest[0], fastest_seconds: (i) => list[i]!.fastest[1],
    });
  },
  systems,
  targets,
  calls,
  findings: ({ report: { findings } }) => table(findings.length, {
    slug: (i) => findings[i]!.slug, level: (i) => findings[i]!.level, lost_seconds: (i) => findings[i]!.lost_seconds, share: (i) => findings[i]!.share,
  }),
};

export function facts(page: Page, name: string): Facts {
  const make = MAKERS[name];
  if (!make) throw new Error(`there is no table ${name}`);
  return make(page);
}

function files(page: Page): Facts {
  const { report, store: { now } } = page, list = report.files, finding = page.finding();
  const rows = list.map((_, at) => at).filter((at) => now.file === null || now.file === at), of = (i: number) => list[rows[i]!]!;
  const meant = finding && finding.places.length > 0 ? new Set(finding.places) : null;
  return table(rows.length, {
    path: (i) => of(i).path, file_system: (i) => of(i).kind ?? "", mount: (i) => of(i).mount ?? "", layer: (i) => of(i).layers[0] ?? "",
    ranks: (i) => of(i).ranks, shared: (i) => Number(of(i).shared), reads: (i) => of(i).reads, writes: (i) => of(i).writes, opens: (i) => of(i).opens, seeks: (i) => of(i).seeks, size: (i) => of(i).size ?? 0,
    bytes_read: (i) => of(i).bytes_read, bytes_written: (i) => of(i).bytes_written,
    read_seconds: (i) => of(i).seconds[0], write_seconds: (i) => of(i).seconds[1], metadata_seconds: (i) => of(i).seconds[2], seconds: (i) => total(of(i).seconds), stripes: (i) => of(i).stripes ?? 0,
  }, meant ? { lit: (i) => meant.has(rows[i]!) } : {});
}

function ranks(page: Page): Facts {
  const { report: { ranks: r }, columns, store: { now } } = page, finding = page.finding();
  const get = (name: string) => columns.get(name), rank = get(r.rank);
  const rows = Array.from({ length: r.count }, (_, at) => at).filter((at) => !now.ranks || rank[at]! >= now.ranks[0] && rank[at]! <= now.ranks[1]);
  const meant = finding && finding.ranks.length > 0 ? new Set(finding.ranks) : null;
  const at = (name: string) => { const values = get(name); return (i: number) => values[rows[i]!]!; };
  const host = at(r.host), time = rankSeconds(page);
  const lacking = time.traced ? r.counted ? "" : "operations without records that were summed over ranks" : r.counted ? "time without records that were summed over ranks" : "without records that were summed over ranks";
  return table(rows.length, { rank: at(r.rank), host: (i) => r.hosts[host(i)] ?? "", reads: at(r.reads), writes: at(r.writes), bytes: at(r.bytes), seconds: (i) => time.of(rows[i]!) },
    { ...(meant ? { lit: (i: number) => meant.has(rank[rows[i]!]!) } : {}), ...(r.complete || !lacking ? {} : { note: lacking }) });
}

/** Seconds of the ranks, by their places in the report. Where records were summed over ranks, those of the traced calls, each
 *  through the layer that its file's time was counted in. */
export function rankSeconds({ report, columns, marks, opens }: Page): { traced: boolean; of: (at: number) => number } {
  const known = columns.get(report.ranks.seconds), rank = columns.get(report.ranks.rank);
  const traced = !report.ranks.complete && marks.count > 0 && report.marks.ranks_per_mark === 1;
  if (!traced) return { traced, of: (at) => known[at]! };
  const sums = new Map<number, number>(), counts = (file: number, layer: string) => report.files[file]?.layers[0] === layer;
  const add = (who: number, seconds: number) => sums.set(who, (sums.get(who) ?? 0) + seconds);
  for (let i = 0; i < marks.count; i++) if (counts(marks.file[i]!, marks.layer(i))) add(marks.rank[i]!, marks.busy[i]!);
  for (let i = 0; i < opens.count; i++) if (counts(opens.file[i]!, opens.layer(i))) add(opens.rank[i]!, opens.length[i]!);
  return { traced, of: (at) => sums.get(rank[at]!) ?? 0 };
}

/** From counters, or from the traced calls where some of them were chosen. */
function sizes(page: Page): Facts {
  const { report, marks, shade, store: { now } } = page;
  const filtered = now.time || now.ranks || now.file !== null || now.way || now.finding !== null && now.only;
  const layers = report.layers.filter((layer) => layer.sizes && (now.layer === null || now.layer === layer.name) && total([...layer.sizes.read, ...layer.sizes.write]) > 0);
  const traced = (layer: string) => filtered && marks.exact && report.timeline.lanes.some((lane) => lane.layer === layer && lane.basis === "traced");
  const counts = layers.map((layer) => {
    if (!traced(layer.name)) return layer.sizes!;
    const found = { read: Array<number>(10).fill(0), write: Array<number>(10).fill(0) }, number = marks.layers.indexOf(layer.name);
    for (let i = 0; i < marks.count; i++) if (shade[i] !== 0 && marks.kind[i]! >> 1 === number && marks.within(i, now)) found[marks.isWrite(i) ? "write" : "read"][sizeBin(marks.bytes[i]!)]! += 1;
    return found;
  });
  const bins = report.size_bins.length;
  const note = !filtered ? "from counters" : layers.every((layer) => traced(layer.name)) ? "of the selection" : "of the whole job: the selection was not traced call by call";
  return table(layers.length * bins, {
    layer: (i) => layers[Math.floor(i / bins)]!.name, size: (i) => report.size_bins[i % bins]!,
    reads: (i) => counts[Math.floor(i / bins)]!.read[i % bins]!, writes: (i) => counts[Math.floor(i / bins)]!.write[i % bins]!,
  }, { note });
}

function systems(page: Page): Facts {
  const found = new Map<string, { mount: string; kind: string; files: number; bytes: number; seconds: number }>();
  for (const file of page.report.files) {
    const mount = file.mount ?? "not known", system = found.get(mount) ?? { mount, kind: file.kind ?? "–", files: 0, bytes: 0, seconds: 0 };
    system.files += 1; system.bytes += file.bytes_read + file.bytes_written; system.seconds += total(file.seconds);
    found.set(mount, system);
  }
  const rows = [...found.values()], more = page.report.file_count > page.report.files.length;
  return table(rows.length, { mount: (i) => rows[i]!.mount, file_system: (i) => rows[i]!.kind, files: (i) => rows[i]!.files, bytes: (i) => rows[i]!.bytes, seconds: (i) => rows[i]!.seconds },
    more ? { note: `of the ${page.report.files.length} costliest files` } : {});
}

function targets({ report }: Page): Facts {
  const counted = new Map(report.osts.list.map((one) => [one.ost, one]));
  const through = (layer: string) => new Map(report.targets.find((one) => one.layer === layer)?.list.map((one) => [one.ost, one]));
  const [mpiio, posix] = [through("MPI-IO"), through("POSIX")];
  const osts = [...new Set([...counted.keys(), ...mpiio.keys(), ...posix.keys()])].sort((a, b) => a - b);
  const of = (i: number) => counted.get(osts[i]!), traced = (i: number) => posix.get(osts[i]!) ?? mpiio.get(osts[i]!);
  const moved = (from: typeof posix) => (i: number) => { const one = from.get(osts[i]!); return one ? one.bytes_read + one.bytes_written : 0; };
  const quarter = (at: number) => (i: number) => traced(i)?.seconds[at] ?? 0;
  return table(osts.length, {
    ost: (i) => osts[i]!, server: (i) => of(i)?.server ?? "", files: (i) => of(i)?.files ?? 0, bytes: (i) => of(i)?.bytes ?? 0, alone: (i) => of(i)?.alone ?? 0,
    alone_seconds_mean: (i) => of(i)?.seconds_mean ?? 0, alone_seconds_max: (i) => of(i)?.seconds_max ?? 0,
    calls: (i) => traced(i)?.calls ?? 0, mpiio_bytes: moved(mpiio), posix_bytes: moved(posix), ranks: (i) => traced(i)?.ranks ?? 0,
    seconds_min: quarter(0), seconds_p25: quarter(1), seconds_median: quarter(2), seconds_p75: quarter(3), seconds_max: quarter(4),
  });
}

function calls(page: Page): Facts {
  const { marks, shade, report, store: { now } } = page;
  const rows: number[] = [];
  for (let i = 0; i < marks.count; i++) if (shade[i] !== 0 && marks.within(i, now)) rows.push(i);
  const at = (values: ArrayLike<number>) => (i: number) => values[rows[i]!]!;
  return table(rows.length, {
    layer: (i) => marks.layer(rows[i]!), operation: (i) => marks.isWrite(rows[i]!) ? "write" : "read", rank: at(marks.rank), file: (i) => report.files[marks.file[rows[i]!]!]?.path ?? "",
    start: at(marks.start), seconds: at(marks.busy), longest_seconds: at(marks.longest), offset: at(marks.offset), bytes: at(marks.bytes), calls: at(marks.each),
  });
}

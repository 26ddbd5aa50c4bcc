// A job beside others: its program's other runs, and the jobs that shared its storage while it ran.

import type { Runs } from "./runs";
import type { Update } from "./model";
import { Table } from "../table";
import { ask } from "./server";
import { bytes, plural } from "../format";
import { duration } from "./words";
import { h } from "../element";
import { pictures, why } from "./runs";

interface Neighbour { job: string; user: string; program: string; overlap: number; targets: number[]; servers: string[]; bytes_read: number | null; bytes_written: number | null }
interface Neighbours { targets: number[]; servers: string[]; count: number; neighbours: Neighbour[] }

/** What is told of a job beside others; nothing where there is nothing to compare it with. */
export async function beside(job: Update): Promise<HTMLElement[]> {
  const parts = await Promise.all([runs(job).catch(() => null), neighbours(job).catch(() => null)]);
  return parts.filter((one) => one !== null);
}

async function runs(job: Update): Promise<HTMLElement | null> {
  const program = (job.exe || job.command?.split(" ")[0] || "").split("/").at(-1) ?? "";
  if (!program) return null;
  const words = new URLSearchParams({ program, ranks: String(job.ranks), days: "3650" }), found = await ask<Runs>(`/api/runs?${words.toString()}`);
  const own = found.runs.find((run) => run.job === job.job), others = found.runs.filter((run) => run.job !== job.job && run.end !== null);
  if (others.length === 0) return null;
  const says = own?.end === null || !own ? "It still runs." : why(own) ? `Unusual: ${why(own)}.` : "Nothing about it is unusual.";
  const shown = pictures(found.runs, job.job);
  // One other run shows nothing while this one is not over.
  if (shown.childElementCount === 0) return null;
  const more = `/runs/${encodeURIComponent(program)}?ranks=${job.ranks}&days=3650&job=${encodeURIComponent(job.job)}`;
  return h("section", { class: "company", "aria-label": "Other runs", id: "other-runs" }, h("h2", { class: "part" }, `This run and ${plural(others.length, "other")} of ${program} on ${plural(job.ranks, "rank")}`),
    h("p", { class: "more" }, `${says} `, h("a", { href: more }, "all runs")), shown);
}

async function neighbours(job: Update): Promise<HTMLElement | null> {
  const found = await ask<Neighbours>(`/api/jobs/${encodeURIComponent(job.job)}/neighbours`);
  if (found.targets.length === 0) return null;
  const slow = job.diagnosis.standings.filter((one) => one.gone === null && /ost|stripe|stream|stalled/.test(one.slug));
  const about = slow.length > 0 ? ` That may be why: ${slow.map((one) => one.title).join(", ")}.` : "";
  const says = found.count === 0 ? "No other job that you may see used its storage targets or servers meanwhile." : `${plural(found.count, "job")} that you may see used the same storage targets or servers meanwhile.${about}`;
  const sized = (value: number | null) => value === null ? "–" : bytes(value);
  return h("section", { class: "company", "aria-label": "Neighbours", id: "neighbours" }, h("h2", { class: "part" }, "On the same storage at the same time"), h("p", { class: "more" }, says), found.count === 0 ? null : new Table<Neighbour>({
    id: "neighbour-table", caption: "Neighbours", rows: found.neighbours, sort: -1,
    columns: [
      { name: "job", value: (one) => one.job, text: (one) => h("a", { href: `/jobs/${encodeURIComponent(one.job)}` }, one.job) }, { name: "user", value: (one) => one.user }, { name: "application", value: (one) => one.program },
      { name: "together for", value: (one) => one.overlap, text: (one) => duration(one.overlap) }, { name: "storage targets", value: (one) => one.targets.length, text: (one) => one.targets.slice(0, 12).join(", ") || "–" },
      { name: "servers", value: (one) => one.servers.length, text: (one) => one.servers.slice(0, 6).join(", ") || "–" },
      { name: "read meanwhile", value: (one) => one.bytes_read ?? 0, text: (one) => sized(one.bytes_read) }, { name: "written meanwhile", value: (one) => one.bytes_written ?? 0, text: (one) => sized(one.bytes_written) },
    ],
  }).node);
}

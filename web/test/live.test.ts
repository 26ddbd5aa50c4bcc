// The live page in a real browser, over a real job that crates/cli/tests/live.rs runs. NETRA_LIVE is its address with the
// token, NETRA_EXPECT what the job will have done in the end, NETRA_SHOTS a folder for pictures of the page.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type BrowserContext, type Page, chromium } from "playwright-core";
import { answersAsDescribed } from "./described";
import { bytes, count } from "../src/format";

interface Expected { file: string; bytes_read: number; bytes_written: number; reads: number; writes: number; ranks: number }

const address = process.env["NETRA_LIVE"] ?? "", expected = JSON.parse(process.env["NETRA_EXPECT"] ?? "{}") as Expected, shots = process.env["NETRA_SHOTS"];
const home = mkdtempSync(join(tmpdir(), "netra-live-"));
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
// Two ranks that wait for each other take many times as long where others use the processors.
const PATIENCE = 240_000;
let browser: BrowserContext;

before(async () => {
  browser = await chromium.launchPersistentContext(home, { executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet, viewport: { width: 1400, height: 900 } });
});
after(async () => {
  await browser.close();
  rmSync(home, { recursive: true, force: true });
});

/** A size as it is written on the page, as a number. */
function size(text: string): number {
  const [value, unit] = text.split(" "), at = ["B", "KiB", "MiB", "GiB", "TiB"].indexOf(unit ?? "B");
  return Number(value) * 1024 ** Math.max(0, at);
}

async function shoot(page: Page, name: string): Promise<void> {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}

const text = async (page: Page, id: string) => await page.locator(`#${id}`).textContent() ?? "";

/** Asks again and again until it holds. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!await holds()) {
    assert.ok(Date.now() < end, `${what}: not in time`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

test("a running job is seen, grows, is diagnosed before it ends, and ends with its exact numbers", async () => {
  const page = await browser.newPage(), wrong: string[] = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => { if (!request.url().startsWith(new URL(address).origin) && !/^(blob|data):/.test(request.url())) wrong.push(`loads ${request.url()}`); });
  try { await follow(page); } catch (error) { await shoot(page, "failed"); throw error; }
  assert.deepEqual(wrong, []);
  await page.close();
});

/** Waits until the server knows the job: it is told where its page is before it begins. */
async function known(): Promise<boolean> {
  const { origin, pathname, hash } = new URL(address);
  const answer = await fetch(`${origin}/api${pathname}`, { headers: { Authorization: `Bearer ${hash.replace("#token=", "")}` } });
  return answer.ok;
}

async function follow(page: Page): Promise<void> {
  await until("the job is known", known);
  await page.goto(address);
  await page.waitForSelector("html[data-ready]", { timeout: PATIENCE });
  assert.ok(!page.url().includes("token"), "the token is still in the address");

  // It grows while it runs.
  const seen: number[] = [];
  await until("it grows", async () => {
    const value = size(await text(page, "now-written"));
    if (value > 0 && value !== seen.at(-1)) seen.push(value);
    return seen.length >= 3;
  });
  assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
  assert.ok(seen[0]! < expected.bytes_written, "it was over before anybody looked");
  const lag = Number(await page.locator(".state.live").getAttribute("data-lag"));
  assert.ok(lag < 2, `${lag} s behind`);
  await shoot(page, "running");

  // The rules speak before the end.
  await until("a finding", async () => await page.locator(".standing:not(.gone)").count() > 0);
  assert.equal(await page.locator(".state.live").count(), 1, "the job had ended before a rule spoke");
  await until("the report", async () => await page.locator("#timeline-canvas").count() > 0);
  assert.ok(await page.locator("html[data-report]").count() === 1);
  // Pictures are as high as they are drawn, also when a layer has come; what was never drawn has the browser's 150.
  const squeezed = await page.locator(".live-panes canvas").evaluateAll((all, undrawn) => (all as HTMLCanvasElement[]).filter((one) => one.clientHeight > 0 && one.height !== undrawn && one.clientHeight !== one.height).map((one) => `${one.id}: ${one.height} in ${one.clientHeight}`), 150);
  assert.deepEqual(squeezed, []);
  await shoot(page, "diagnosed");

  const job = new URL(page.url()).pathname;
  await answersAsDescribed(address, [["/api/health", "/api/health"], ["/api/me", "/api/me"], ["/api/jobs", "/api/jobs"], ["/api/jobs/{job}", `/api${job}`], ["/api/jobs/{job}/report", `/api${job}/report`],
    ["/api/jobs/{job}/neighbours", `/api${job}/neighbours`], ["/api/site", "/api/site"], ["/api/runs", "/api/runs?program=any"]]);

  // Paused, the page stands still while the job goes on; then it goes on too.
  await page.locator("#pause").click();
  const still = await page.locator(".state.paused").textContent();
  assert.equal(still, "paused");
  const numbers = async () => await page.locator(".numbers").textContent() ?? "", stood = await numbers();
  const delivered = async () => (await page.evaluate(async (path) => await (await fetch(path)).json() as { completeness: { delivered: number } }, `/api${job}`)).completeness.delivered, had = await delivered();
  await until("the job goes on", async () => await delivered() > had);
  // An update comes each half second.
  await page.waitForTimeout(1200);
  assert.equal(await numbers(), stood);
  await page.locator("#moment").evaluate((node) => { (node as HTMLInputElement).value = "300"; node.dispatchEvent(new Event("input")); });
  assert.match(await text(page, "when"), / after the start$/);
  await page.locator("#pause").click();

  // In the end all numbers are the workload's own.
  await page.waitForSelector(".state.ended", { timeout: PATIENCE });
  await until("the last numbers", async () => (await text(page, "now-events")).startsWith("all "));
  const file = page.locator(".live-files tbody tr", { hasText: expected.file });
  const moved = async () => (await file.locator("td.number").allTextContents()).slice(1).join(", ");
  // Tables follow the pictures within a second.
  await until("the file's last numbers", async () => await moved() === `${bytes(expected.bytes_read)}, ${bytes(expected.bytes_written)}`);
  assert.match(await file.locator("td").first().getAttribute("title") ?? "", new RegExp(`\\n${count(expected.reads)} reads, ${count(expected.writes)} writes of ${expected.ranks} processes$`));
  assert.ok(size(await text(page, "now-written")) >= size(bytes(expected.bytes_written)));
  assert.equal(await page.locator(".rank").count(), expected.ranks);
  await until("the last report", async () => (await page.locator(".verdict .answer span").count()) > 0);
  await shoot(page, "ended");

  // A link to a moment brings somebody else there.
  await page.locator("#moment").evaluate((node) => { (node as HTMLInputElement).value = "500"; node.dispatchEvent(new Event("input")); });
  await page.locator("#share").click();
  assert.match(page.url(), /#.*at=\d/);
  const other = await browser.newPage();
  await other.goto(page.url());
  await other.waitForSelector("html[data-ready]", { timeout: PATIENCE });
  assert.match(await text(other, "when"), / after the start$/);
  await other.close();

  // The list has it, and searching finds it.
  await page.goto(new URL("/", address).href);
  await page.waitForSelector("tr[data-job]", { timeout: PATIENCE });
  await page.locator("#search").fill("there is no such job");
  await until("nothing is found", async () => await page.locator("tr[data-job]").count() === 0);
  await page.locator("#search").fill("");
  await until("it is found", async () => await page.locator("tr[data-job]").count() === 1);
  await shoot(page, "jobs");
  assert.equal(await page.locator("tr[data-job] .state.ended").count(), 1);
}

// Fifty jobs of 64 ranks that change all the time, fed by crates/show/tests/serve.rs: the list and a job's page follow without
// losing the connection. What updates cost is printed; `cargo xtask bench live` measures it. NETRA_LIVE is the address with the token.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type BrowserContext, type Page, chromium } from "playwright-core";

const address = process.env["NETRA_LIVE"] ?? "", shots = process.env["NETRA_SHOTS"], PATIENCE = 120_000;
const home = mkdtempSync(join(tmpdir(), "netra-crowd-"));
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let browser: BrowserContext;

before(async () => {
  browser = await chromium.launchPersistentContext(home, { executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet, viewport: { width: 1400, height: 900 } });
});
after(async () => {
  await browser.close();
  rmSync(home, { recursive: true, force: true });
});

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!await holds()) {
    assert.ok(Date.now() < end, `${what}: not in time`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

const about = async (page: Page, name: string) => await page.locator("html").getAttribute(`data-${name}`) ?? "0";

test("the list of fifty jobs follows, and so does the page of one", async () => {
  const page = await browser.newPage(), wrong: string[] = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") wrong.push(message.text()); });
  await page.goto(address);
  await until("every job is in the list", async () => await page.locator("tr[data-job]").count() === 50);
  const before = Number(await about(page, "updates"));
  let gone = 0;
  await until("twenty updates", async () => {
    gone += (await page.locator(".more").textContent() ?? "").includes("gone") ? 1 : 0;
    return Number(await about(page, "updates")) >= before + 20;
  });
  assert.equal(gone, 0, "the connection was lost");
  assert.equal(await page.locator("tr[data-job].running").count(), 50);
  console.log(`list: longest update ${await about(page, "update")} ms`);
  if (shots) await page.screenshot({ path: join(shots, "crowd.png"), fullPage: true });

  await page.goto(new URL("/jobs/crowd.07", address).href);
  await until("its ranks", async () => await page.locator(".rank").count() === 64);
  const values = new Set<string>();
  await until("ten other numbers", async () => {
    gone += await page.locator(".state.lost").count();
    values.add(await page.locator("#now-writes").textContent() ?? "");
    return values.size >= 10;
  });
  assert.equal(gone, 0, "the connection was lost");
  console.log(`job: longest update ${await about(page, "update")} ms`);
  if (shots) await page.screenshot({ path: join(shots, "crowd-job.png"), fullPage: true });
  assert.deepEqual(wrong, []);
});

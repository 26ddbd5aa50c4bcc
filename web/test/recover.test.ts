// A page whose server is killed and started again by crates/cli/tests/recover.rs: it says so, comes back by itself, and ends with
// the job's exact numbers. Words on standard output tell the other side where it is; NETRA_WRITTEN is what the job writes.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Page, chromium } from "playwright-core";
import { bytes } from "../src/format";

const address = process.env["NETRA_LIVE"] ?? "", written = Number(process.env["NETRA_WRITTEN"] ?? "0"), PATIENCE = 170_000;
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

const text = async (page: Page, id: string) => await page.locator(`#${id}`).count() > 0 ? await page.locator(`#${id}`).textContent() ?? "" : "";

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!await holds()) {
    assert.ok(Date.now() < end, `${what}: not in time`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function look(home: string): Promise<void> {
  const browser = await chromium.launchPersistentContext(home, { executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet });
  const page = await browser.newPage();
  await page.goto(address);
  await until("it is seen", async () => await text(page, "now-written") === bytes(written) && await page.locator(".state.live").count() === 1);
  console.log("seen");
  await until("the server is gone", async () => await page.locator(".state.lost").count() === 1);
  console.log("lost");
  await until("it is back", async () => await page.locator(".state.live").count() === 1);
  console.log("back");
  await until("it has ended", async () => await page.locator(".state.ended").count() === 1);
  await until("the last numbers", async () => await text(page, "now-written") === bytes(written));
  console.log("ended");
  await browser.close();
}

const home = mkdtempSync(join(tmpdir(), "netra-recover-"));
try { await look(home); } finally { rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }); }

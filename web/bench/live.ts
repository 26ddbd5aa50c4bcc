// Opens pages of a running job and measures them: `node build/live.js ADDRESS PAGES SECONDS` prints one line of JSON: what an
// update costs the page at most and in the middle, and how long an event waits at most until it is seen.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [address, pages, time] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "netra-bench-"));
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
const browser = await chromium.launchPersistentContext(home, { executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet, viewport: { width: 1400, height: 900 } });
const all = [];
for (let at = 0; at < Number(pages); at++) {
  const page = await browser.newPage();
  await page.goto(address!);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  all.push(page);
}
// The one in front draws, as a reader's does.
const front = all.at(-1)!;
await front.bringToFront();
await new Promise((done) => setTimeout(done, Number(time) * 1000));
const found = await front.evaluate(() => ({ ...document.documentElement.dataset }));
console.log(JSON.stringify({ update_ms: Number(found["update"]), median_ms: Number(found["median"]), waited_s: Number(found["waited"]) }));
await browser.close();
rmSync(home, { recursive: true, force: true });

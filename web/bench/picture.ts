// Takes pictures of pages: `node build/picture.js` reads a JSON list of them from standard input. A picture
// is of a whole screen, or of one part of the page, in a width and in light or dark, after what the
// fragment chooses.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

interface Picture { page: string; fragment: string; part: string | null; width: number; height: number; dark: boolean; out: string }

const wanted = JSON.parse(readFileSync(0, "utf8")) as Picture[];
const home = mkdtempSync(join(tmpdir(), "netra-picture-"));
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking"];
const browser = await chromium.launchPersistentContext(home, { executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet });
for (const { page: file, fragment, part, width, height, dark, out } of wanted) {
  const page = await browser.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
  await page.goto(`file://${file}${fragment}`);
  await page.waitForSelector("html[data-ready]");
  if (part) await page.locator(part).first().scrollIntoViewIfNeeded();
  // Pictures are drawn in the frames after they have come into sight.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
  await (part ? page.locator(part).first() : page).screenshot({ path: out });
  await page.close();
}
await browser.close();
rmSync(home, { recursive: true, force: true });

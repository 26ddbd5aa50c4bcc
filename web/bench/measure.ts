// Opens pages in a browser and measures what a reader waits for: `node build/measure.js KIND FILE…`
// prints one line of JSON for each. KIND says when a page is usable and whether it can be zoomed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Page, chromium } from "playwright-core";

interface Measured { file: string; usable_ms: number; frame_ms: number | null; frame_p95_ms: number | null; work_ms: number | null }

const STEPS = 60;

/** Turns the wheel over an element once a frame, and tells how far frames are apart and what one costs. */
async function zoom(page: Page, selector: string): Promise<{ frames: number[]; work: number[] }> {
  await page.locator(selector).first().scrollIntoViewIfNeeded();
  return page.evaluate(async ({ selector, steps }) => {
    const target = document.querySelector<HTMLElement>(selector)!, box = target.getBoundingClientRect();
    const frame = () => new Promise<number>((done) => requestAnimationFrame(done));
    const frames: number[] = [], work: number[] = [];
    target.focus({ preventScroll: true });
    let last = await frame();
    for (let step = 0; step < steps; step++) {
      const began = performance.now();
      target.dispatchEvent(new WheelEvent("wheel", { deltaY: step < steps / 2 ? -40 : 40, clientX: box.left + box.width * 0.6, clientY: box.top + box.height / 2, ctrlKey: true, bubbles: true, cancelable: true }));
      const handled = performance.now() - began;
      // Callbacks of the pictures come before ours in the same frame.
      const now = await frame();
      work.push(handled + performance.now() - now);
      frames.push(now - last);
      last = now;
    }
    return { frames, work };
  }, { selector, steps: STEPS });
}

const at = (values: number[], share: number) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;

/** Two frames after something is there, it is also on the screen. */
const shown = (page: Page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function measure(page: Page, kind: string, file: string): Promise<Measured> {
  const began = Date.now();
  await page.goto(`file://${file}`, { timeout: 300_000 });
  if (kind === "netra") await page.waitForSelector("html[data-ready]", { timeout: 300_000 });
  else if (kind === "plotly") await page.waitForSelector(".plotly .draglayer", { timeout: 300_000 });
  await shown(page);
  const usable_ms = Date.now() - began;
  // Others do not zoom by the wheel, and what they do by other means is not the same work.
  const selector = kind === "netra" ? "#calls-posix-canvas, #heat-canvas" : null;
  if (!selector) return { file, usable_ms, frame_ms: null, frame_p95_ms: null, work_ms: null };
  const { frames, work } = await zoom(page, selector);
  return { file, usable_ms, frame_ms: at(frames, 0.5), frame_p95_ms: at(frames, 0.95), work_ms: at(work, 0.5) };
}

const [kind, ...files] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "netra-bench-"));
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
const browser = await chromium.launchPersistentContext(home, { executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet, viewport: { width: 1400, height: 900 } });
for (const file of files) {
  const page = await browser.newPage();
  console.log(JSON.stringify(await measure(page, kind ?? "", file)));
  await page.close();
}
await browser.close();
rmSync(home, { recursive: true, force: true });

// Opens pages in a browser and measures what a reader waits for: `node build/measure.js KIND FILE…`
// prints one line of JSON for each. KIND says when a page is usable and how it zooms: ours by the wheel,
// Plotly's by the call that its own buttons and drags make. A page that does not look different while it
// is zoomed was not zoomed, and that is an error.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Page, chromium } from "playwright-core";

interface Measured { file: string; usable_ms: number; frame_ms: number | null; frame_p95_ms: number | null; work_ms: number | null }

/** Frames of a zoom, the first half in and the second out; a slow page is not zoomed for longer than this. */
const STEPS = 60, LIMIT_MS = 20_000;

interface Frames { frames: number[]; work: number[]; seen: boolean }

/** The part of a page that is zoomed. */
const SHOWS: Record<string, string> = { netra: "#calls-posix-canvas, #heat-canvas", plotly: ".js-plotly-plot" };

/** Zooms once a frame, and tells how far frames are apart, what one costs, and whether anything changed. */
async function zoom(page: Page, shows: string): Promise<Frames> {
  const target = page.locator(shows).first();
  await target.scrollIntoViewIfNeeded();
  await shown(page);
  const before = await target.screenshot();
  const take = (steps: number, into: boolean) => page.evaluate(async ({ shows, steps, into, limit }) => {
    type Axes = Record<string, { range: [number, number] }>;
    const target = document.querySelector<HTMLElement & { _fullLayout?: Axes }>(shows)!, deltaY = into ? -40 : 40;
    const turn = () => {
      const box = target.getBoundingClientRect();
      target.focus({ preventScroll: true });
      target.dispatchEvent(new WheelEvent("wheel", { deltaY, clientX: box.left + box.width * 0.6, clientY: box.top + box.height / 2, ctrlKey: true, bubbles: true, cancelable: true }));
    };
    // The same factor as a turn of our wheel, about the same place, on every axis of time.
    const relayout = (axes: Axes) => {
      const change: Axes[string]["range"][] = [], names = Object.keys(axes).filter((key) => /^xaxis\d*$/.test(key));
      for (const name of names) {
        const [a, b] = axes[name]!.range, centre = a + (b - a) * 0.6, factor = Math.exp(deltaY / 150);
        change.push([centre - (centre - a) * factor, centre + (b - centre) * factor]);
      }
      const plotly = (window as unknown as { Plotly: { relayout(target: Element, change: object): Promise<unknown> } }).Plotly;
      return plotly.relayout(target, Object.fromEntries(names.map((name, at) => [`${name}.range`, change[at]])));
    };
    const act = () => target._fullLayout ? relayout(target._fullLayout) : turn();
    const frame = () => new Promise<number>((done) => requestAnimationFrame(done));
    const frames: number[] = [], work: number[] = [], end = performance.now() + limit;
    let last = await frame();
    for (let at = 0; at < steps && (at < 5 || performance.now() < end); at++) {
      const began = performance.now();
      await act();
      const handled = performance.now() - began;
      // Callbacks of the pictures come before ours in the same frame.
      const now = await frame();
      work.push(handled + performance.now() - now);
      frames.push(now - last);
      last = now;
    }
    return { frames, work };
  }, { shows, steps, into, limit: LIMIT_MS / 2 });
  const inward = await take(STEPS / 2, true);
  await shown(page);
  const seen = !before.equals(await target.screenshot());
  const outward = await take(STEPS / 2, false);
  return { frames: [...inward.frames, ...outward.frames], work: [...inward.work, ...outward.work], seen };
}

const at = (values: number[], share: number) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;

/** Two frames after something is there, it is also on the screen. */
const shown = (page: Page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function measure(page: Page, kind: string, file: string): Promise<Measured> {
  const began = Date.now();
  await page.goto(`file://${file}`, { timeout: 300_000 });
  if (kind === "netra") await page.waitForSelector("html[data-ready]", { timeout: 300_000 });
  else if (kind === "plotly") await page.waitForSelector(".js-plotly-plot .draglayer", { timeout: 300_000, state: "attached" });
  await shown(page);
  const usable_ms = Date.now() - began, shows = SHOWS[kind];
  if (!shows) return { file, usable_ms, frame_ms: null, frame_p95_ms: null, work_ms: null };
  const { frames, work, seen } = await zoom(page, shows);
  if (!seen) throw new Error(`${file} looks the same after it was zoomed`);
  return { file, usable_ms, frame_ms: at(frames, 0.5), frame_p95_ms: at(frames, 0.95), work_ms: at(work, 0.5) };
}

const [kind, ...files] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "netra-bench-"));
// Large pictures of Plotly's want WebGL, which a browser without a graphics card gives only when told to.
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--no-first-run", "--disable-background-networking"];
const browser = await chromium.launchPersistentContext(home, { executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet, viewport: { width: 1400, height: 900 } });
for (const file of files) {
  const page = await browser.newPage();
  console.log(JSON.stringify(await measure(page, kind ?? "", file)));
  await page.close();
}
await browser.close();
rmSync(home, { recursive: true, force: true });

// The page in a real browser, over pages that crates/show/tests/page.rs has made. NETRA_PAGES is
// their folder: NAME.html beside NAME.json, the report for machines, which it must agree with.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type BrowserContext, type Page, chromium } from "playwright-core";
import { count, percent, seconds } from "../src/format";

const folder = process.env["NETRA_PAGES"] ?? "";
const home = mkdtempSync(join(tmpdir(), "netra-page-"));
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let browser: BrowserContext;

before(async () => {
  browser = await chromium.launchPersistentContext(home, { executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet, viewport: { width: 1400, height: 900 } });
});
after(async () => {
  await browser.close();
  rmSync(home, { recursive: true, force: true });
});

interface Expected { job: { processes: number }; io: { share: number; seconds: number }; findings: { slug: string; lost_seconds: number }[]; files: unknown[]; layers: { layer: string; read_rank_seconds: number; write_rank_seconds: number; metadata_rank_seconds: number }[]; trust: { complete: boolean } }

/** Opens a page, and fails at the end when anything was complained of or loaded. */
async function visit(name: string, fragment: string, look: (page: Page, expected: Expected) => Promise<void>): Promise<void> {
  const page = await browser.newPage(), wrong: string[] = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => { if (!/^(file|blob):/.test(request.url())) wrong.push(`loads ${request.url()}`); });
  page.on("dialog", (dialog) => { wrong.push(`says ${dialog.message()}`); void dialog.dismiss(); });
  await page.goto(`file://${join(folder, name)}.html${fragment}`);
  await page.waitForSelector("html[data-ready]");
  await look(page, JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Expected);
  await page.close();
  assert.deepEqual(wrong, [], name);
}

/** Different colours in a picture, by how many pixels have them. */
async function colours(page: Page, id: string): Promise<Map<string, number>> {
  await page.locator(`#${id}-canvas`).scrollIntoViewIfNeeded();
  // Drawing happens in the frame after the next.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
  const found = await page.evaluate((canvas) => {
    const node = document.getElementById(canvas) as HTMLCanvasElement, seen: Record<string, number> = {};
    const { data } = node.getContext("2d")!.getImageData(0, 0, node.width, node.height);
    for (let i = 0; i < data.length; i += 4) { const key = `${data[i]},${data[i + 1]},${data[i + 2]}`; seen[key] = (seen[key] ?? 0) + 1; }
    return seen;
  }, `${id}-canvas`);
  return new Map(Object.entries(found));
}

/** Where a picture is, when it stands in the middle of the window. */
async function centred(page: Page, id: string): Promise<{ x: number; y: number; width: number; height: number }> {
  await colours(page, id);
  await page.locator(`#${id}-canvas`).evaluate((canvas) => canvas.scrollIntoView({ block: "center" }));
  await colours(page, id);
  return (await page.locator(`#${id}-canvas`).boundingBox())!;
}

const WRITE = "201,96,14", ALARM = "139,0,139", META = "138,127,156";

test("every page opens, is quiet, and says what the report for machines says", async () => {
  const names = readdirSync(folder).filter((file) => file.endsWith(".html")).map((file) => file.slice(0, -5));
  assert.ok(names.length >= 6, `only ${names.join(", ")}`);
  for (const name of names.filter((name) => name !== "runs")) await visit(name, "", async (page, expected) => {
    assert.equal(await page.locator(".answer strong").textContent(), percent(expected.io.share), name);
    assert.match(await page.locator(".job p").textContent() ?? "", new RegExp(`^${count(expected.job.processes)} ranks?\\b`), name);
    const more = page.locator(".findings .quiet");
    if (await more.count() > 0 && expected.findings.length > 5) await more.last().click();
    const slugs = await page.locator(".finding").evaluateAll((all) => all.map((one) => one.getAttribute("data-slug")));
    assert.deepEqual(slugs, expected.findings.map((one) => one.slug), name);
    const costs = await page.locator(".finding .cost b").allTextContents();
    assert.deepEqual(costs, expected.findings.map((one) => one.lost_seconds > 0 ? seconds(one.lost_seconds) : "–"), name);
    if (expected.layers.length > 0) assert.equal(await page.locator("#tab-files").textContent(), `Files ${count(expected.files.length)}`, name);
    assert.equal(await page.locator(".badge.good").count(), expected.trust.complete ? 1 : 0, name);
    // The bars of the first chart are the layers' seconds, one by one.
    const spent = expected.layers.flatMap((layer) => ([["reading", layer.read_rank_seconds], ["writing", layer.write_rank_seconds], ["metadata", layer.metadata_rank_seconds]] as const).filter(([, value]) => value > 0).map(([what, value]) => `${layer.layer}: ${what} ${seconds(value)}`));
    assert.deepEqual(await page.locator("#layer-time rect title").allTextContents(), spent, name);
  });
});

test("the first screen holds the answers", async () => {
  await visit("wave", "", async (page) => {
    for (const part of [".verdict", ".badge", "#timeline-canvas", ".finding >> nth=0"]) {
      const box = await page.locator(part).boundingBox();
      assert.ok(box && box.y + box.height <= 900, `${part} ends at ${box && box.y + box.height}`);
    }
  });
});

test("one hot rank among 100,000 is seen, also on 800 pixels, and named under the pointer", async () => {
  for (const width of [1400, 800]) await visit("hot", "", async (page) => {
    await page.setViewportSize({ width, height: 900 });
    const hot = (await colours(page, "heat")).get(WRITE) ?? 0;
    // A tenth of the run on one row of pixels, of those that the picture is wide.
    const wide = await page.locator("#heat-canvas").evaluate((canvas) => canvas.clientWidth - 108);
    assert.ok(hot >= wide * 0.09 && hot < wide * 0.4, `${hot} pixels of ${wide}`);
    // From below, its row is 77,777 of 100,000 high; its time is the middle of the run and a little more.
    const box = (await page.locator("#heat-canvas").boundingBox())!, x = box.x + 94 + (box.width - 108) * 0.55;
    const high = box.height - 28, row = box.y + 6 + high * (1 - 0.77777), said: string[] = [];
    for (let y = row - 3; y <= row + 3; y++) { await page.mouse.move(x, y); said.push(await page.locator(".tip").textContent() ?? ""); }
    assert.ok(said.some((text) => text.startsWith("POSIX, rank 77,777") && text.includes("100")), said.join("\n"));
  });
});

test("names with HTML in them are only text", async () => {
  await visit("markup", "", async (page) => {
    assert.equal(await page.evaluate(() => (window as unknown as { ran?: boolean }).ran), undefined);
    assert.equal(await page.locator("main img, main b[onclick]").count(), 0);
    assert.match(await page.locator("#files .pick").getAttribute("title") ?? "", /^\/data\/<img src=x onerror=/);
  });
});

test("a click on a finding lights its evidence, a second hides the rest, a third restores", async () => {
  await visit("slow", "", async (page) => {
    const row = page.locator(".finding").first(), before = await colours(page, "calls-posix");
    await row.click();
    assert.match(page.url(), /#finding=0$/);
    const lit = await page.locator("#files tr.lit").count();
    assert.equal(lit, 1);
    assert.match(await page.locator("#files tr.lit").textContent() ?? "", /slow\.dat/);
    const during = await colours(page, "calls-posix");
    assert.ok((during.get(WRITE) ?? 0) < (before.get(WRITE) ?? 0) && (during.get(WRITE) ?? 0) > 0);
    await row.click();
    assert.match(page.url(), /finding=0&only=1$/);
    await row.click();
    assert.equal(new URL(page.url()).hash, "");
    assert.deepEqual(await colours(page, "calls-posix"), before);
  });
});

test("a brush zooms every picture, undo brings back, a link restores", async () => {
  let link = "", zoomed = new Map<string, number>();
  await visit("slow", "", async (page) => {
    const before = await colours(page, "calls-posix");
    const box = (await page.locator("#timeline-canvas").boundingBox())!;
    await page.mouse.move(box.x + 200, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + 320, box.y + 34, { steps: 4 });
    await page.mouse.up();
    link = new URL(page.url()).hash;
    assert.match(link, /^#time=[\d.]+~[\d.]+$/);
    zoomed = await colours(page, "calls-posix");
    assert.notDeepEqual(zoomed, before);
    await page.keyboard.press("u");
    await page.waitForFunction(() => location.hash === "");
    assert.deepEqual(await colours(page, "calls-posix"), before);
  });
  await visit("slow", link, async (page) => {
    assert.match(await page.locator(".chip").textContent() ?? "", / – /);
    assert.deepEqual(await colours(page, "calls-posix"), zoomed);
  });
});

test("the keyboard reaches everything and moves the pictures", async () => {
  await visit("slow", "", async (page) => {
    const reached = new Set<string>();
    for (let at = 0; at < 200; at++) {
      await page.keyboard.press("Tab");
      const where = await page.evaluate(() => { const e = document.activeElement; return e && e !== document.body ? e.id || e.className || e.textContent || "" : ""; });
      if (!where && reached.size > 5) break;
      reached.add(where);
    }
    for (const id of ["timeline-canvas", "heat-canvas", "calls-posix-canvas", "offsets-canvas", "durations-canvas", "tab-files"]) assert.ok(reached.has(id), `${id} is not reached: ${[...reached].join("; ")}`);
    await page.locator("#timeline-canvas").focus();
    await page.keyboard.press("+");
    await page.waitForFunction(() => location.hash.includes("time="));
    await page.keyboard.press("PageUp");
    await page.waitForFunction(() => location.hash.includes("ranks="));
    await page.keyboard.press("Escape");
    assert.equal(new URL(page.url()).hash, "");
  });
});

test("the keys point, choose and say what is there", async () => {
  await visit("slow", "", async (page) => {
    await colours(page, "calls-posix");
    await page.locator("#calls-posix-canvas").focus();
    // From the middle down to the lowest rank, then left to where all of them write.
    for (let step = 0; step < 40; step++) await page.keyboard.press("Shift+ArrowDown");
    for (let step = 0; step < 75; step++) await page.keyboard.press("Shift+ArrowLeft");
    for (let step = 0; step < 10; step++) await page.keyboard.press("Shift+ArrowRight");
    assert.match(await page.locator("[role=status].unseen").first().textContent() ?? "", /^POSIX write, rank 0, file \/data\/fast\.0.*, offset .*, bytes 1\.00 MiB .*, called from save \(app\.c:42\)$/);
    await page.keyboard.press("Enter");
    assert.match(page.url(), /file=\d+/);
  });
});

test("it prints in the light, whatever is on the screen", async () => {
  await visit("slow", "", async (page) => {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    const pixel = await page.evaluate(() => [...(document.getElementById("places-canvas") as HTMLCanvasElement).getContext("2d")!.getImageData(2, 2, 1, 1).data]);
    assert.deepEqual(pixel, [255, 255, 255, 255]);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
  });
});

test("a row of a table filters the pictures, and the tables can be searched and sorted", async () => {
  await visit("slow", "", async (page) => {
    const before = await colours(page, "offsets");
    await page.locator("#files .pick", { hasText: "slow.dat" }).click();
    assert.match(page.url(), /file=\d+/);
    assert.notDeepEqual(await colours(page, "offsets"), before);
    await page.locator("#files input").fill("fast");
    const shown = await page.locator("#files tbody tr").allTextContents();
    assert.ok(shown.length > 0 && shown.every((row) => row.includes("fast")));
    await page.locator("#files input").fill("");
    await page.locator("#files th button", { hasText: "file" }).first().click();
    const names = await page.locator("#files tbody .pick").allTextContents();
    assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b)));
  });
});

test("the pointer is told what it is over, and colours follow light and dark", async () => {
  await visit("slow", "", async (page) => {
    await colours(page, "calls-posix");
    const box = (await page.locator("#calls-posix-canvas").boundingBox())!;
    for (let x = 90; x < box.width - 20; x += 12) {
      await page.mouse.move(box.x + x, box.y + box.height - 30);
      if (await page.locator(".tip").isVisible() && (await page.locator(".tip").textContent() ?? "").startsWith("POSIX write")) break;
    }
    assert.match(await page.locator(".tip").textContent() ?? "", /^POSIX write.*rank.*file.*start.*duration.*offset.*bytes.*called from/);
    const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.locator('[aria-label="light or dark"]').click();
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), light);
    // The choice is remembered; later pages are looked at in the light again.
    await page.locator('[aria-label="light or dark"]').click();
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), light);
  });
});

test("bytes that were counted over time make a heat map without a trace", async () => {
  await visit("counted", "", async (page) => {
    const seen = await colours(page, "heat");
    assert.match(await page.locator("#heat figcaption").textContent() ?? "", /bytes counted over time/);
    assert.ok((seen.get(WRITE) ?? 0) > 100, "the step with most bytes is as bright as can be");
    assert.match(await page.locator("#timeline figcaption").textContent() ?? "", /bytes counted over time/);
  });
});

test("conflicts are marked where they are, and can be switched off", async () => {
  await visit("clash", "", async (page) => {
    const marked = (await colours(page, "offsets")).get(ALARM) ?? 0;
    assert.match(await page.locator("#offsets figcaption").textContent() ?? "", /3 conflicts between ranks/);
    assert.ok(marked > 10, `${marked} pixels`);
    await page.locator(".legend button", { hasText: "conflicts" }).click();
    assert.match(page.url(), /conflicts=0/);
    assert.equal((await colours(page, "offsets")).get(ALARM), undefined);
  });
});

test("opens and closes stand among the durations", async () => {
  await visit("slow", "", async (page) => {
    // All files are opened at once; they are closed at two times.
    const seen = (await colours(page, "durations")).get(META) ?? 0;
    assert.ok(seen >= 3 && seen <= 12, `${seen} pixels`);
    await page.locator(".legend button", { hasText: "writes" }).click();
    assert.equal((await colours(page, "durations")).get(META), undefined);
  });
});

test("storage targets and nodes are drawn over time, with each byte on its target", async () => {
  await visit("clash", "", async (page) => {
    assert.ok((await colours(page, "targets-posix")).size > 3);
    assert.ok((await colours(page, "nodes")).size > 3);
    // Four calls of the same 300 bytes, over stripes of 100 on targets 4, 9 and 2.
    const titles = await page.locator("#target-bytes rect title").allTextContents();
    assert.deepEqual(titles, ["2: POSIX 400 B", "4: POSIX 400 B", "9: POSIX 400 B"]);
    assert.equal(await page.locator("#target-spread g").count(), 3);
    // Targets 4 and 9 are one server's: it has twice as many bytes as the other, at the same times.
    assert.ok((await colours(page, "servers-posix")).size > 3);
    const box = (await page.locator("#servers-posix-canvas").boundingBox())!, rows: string[] = [];
    const bytes = async (row: number) => {
      await page.mouse.move(box.x + 94 + (box.width - 108) * 0.15, box.y + 6 + (box.height - 28) * row);
      return await page.locator(".tip").textContent() ?? "";
    };
    rows.push(await bytes(0.25), await bytes(0.75));
    assert.match(rows[0]!, /^server oss-b/);
    assert.match(rows[1]!, /^server oss-a/);
    const amount = (text: string) => Number(/written([\d.]+) B/.exec(text)?.[1]);
    assert.ok(Math.abs(amount(rows[1]!) / amount(rows[0]!) - 2) < 0.3, rows.join("; "));
    await page.locator("#nodes button", { hasText: "calls" }).click();
    assert.equal(await page.locator('#nodes button[aria-pressed="true"]').textContent(), "calls");
  });
});

test("a view from a file is drawn, and follows the finding", async () => {
  await visit("slow", "", async (page) => {
    assert.equal(await page.locator("#slow-files h3").textContent(), "Files above ten seconds");
    assert.deepEqual(await page.locator("#slow-files rect title").allTextContents(), ["/data/slow.dat: time 80.0 s"]);
    assert.equal(await page.locator("#rank-time .bar").count(), 16);
    await page.locator(".finding").first().click();
    assert.equal(await page.locator("#rank-time .bar.dim").count(), 15);
  });
});

test("every bar has its name, and what is written over bars can be read", async () => {
  await visit("slow", "", async (page) => {
    const names = await page.locator("#function-calls text.name").evaluateAll((all) => all.map((one) => one.firstChild?.textContent));
    assert.equal(names.length, 12);
    assert.deepEqual(names.slice(0, 2), ["fread", "fclose"]);
    const over = await page.locator("#rank-time svg").evaluate((svg) => {
      const all = [...svg.querySelectorAll("rect.bar, text.halo")];
      return all.findIndex((one) => one.tagName === "text") === all.length - 1;
    });
    assert.ok(over, "the median stands behind a bar");
    // Names of layers stand left of the pictures, in 86 pixels.
    const widest = await page.evaluate(() => {
      const c = document.createElement("canvas").getContext("2d")!;
      c.font = "11px system-ui, sans-serif";
      return Math.max(...["PNETCDF_VAR", "MPI-IO", "H5D"].map((name) => c.measureText(name).width));
    });
    assert.ok(widest <= 86, `${widest} pixels`);
    await page.locator(".badge").click();
    assert.match(await page.locator("#caveats").textContent() ?? "", /2 files of MPI's own, such as its shared memory \(4\.00\sKiB written, 0\sB read\), are left out/);
  });
});

test("filters can be chosen by name", async () => {
  await visit("slow", "", async (page) => {
    await page.locator(".filters summary").click();
    await page.getByLabel("ranks", { exact: true }).fill("5");
    await page.getByLabel("to", { exact: true }).fill("5");
    await page.getByLabel("to", { exact: true }).press("Tab");
    await page.waitForFunction(() => location.hash === "#ranks=5~5");
    await page.getByLabel("operation", { exact: true }).selectOption("read");
    assert.match(page.url(), /way=read/);
    await colours(page, "calls-posix");
    assert.match(await page.locator("#calls-posix-canvas").getAttribute("aria-label") ?? "", /0 calls shown/);
  });
});

test("two runs stand side by side on one axis, with what went and came", async () => {
  const page = await browser.newPage(), wrong: string[] = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  await page.goto(`file://${join(folder, "runs")}.html`);
  await page.waitForSelector("html[data-ready]");
  const expected = JSON.parse(readFileSync(join(folder, "runs.json"), "utf8")) as { a: { io_seconds: number }; b: { io_seconds: number }; findings: { slug: string; lost_seconds_a: number | null; lost_seconds_b: number | null }[] };
  const row = await page.locator("tr", { hasText: "I/O of the slowest rank" }).locator("td").allTextContents();
  assert.deepEqual(row.slice(0, 2), [seconds(expected.a.io_seconds), seconds(expected.b.io_seconds)]);
  for (const one of expected.findings) {
    const said = await page.locator(`tr[data-slug="${one.slug}"] td`).last().textContent();
    assert.equal(said, one.lost_seconds_b === null ? "gone" : one.lost_seconds_a === null ? "new" : "", one.slug);
  }
  assert.ok(expected.findings.some((one) => one.lost_seconds_b === null));
  // A zoom of one moves the other.
  const before = await colours(page, "timeline-2");
  await page.locator("#timeline-1-canvas").focus();
  await page.keyboard.press("+");
  await page.waitForFunction(() => location.hash.includes("time="));
  assert.notDeepEqual(await colours(page, "timeline-2"), before);
  await page.close();
  assert.deepEqual(wrong, []);
});

test("a job without I/O has no empty pictures", async () => {
  await visit("empty", "", async (page) => {
    assert.equal(await page.locator("canvas").count(), 0);
    assert.match(await page.locator(".absent").textContent() ?? "", /^No I\/O was recorded/);
  });
});

test("what costs little is no reason to change anything", async () => {
  await visit("slow", "", async (page) => {
    assert.match(await page.locator(".verdict .card").nth(1).textContent() ?? "", /^Why.* rank 5 80\.0\ss/);
  });
  await visit("untraced", "", async (page, expected) => {
    const first = expected.findings[0] as { slug: string; level?: string; lost_seconds: number } | undefined;
    assert.equal(first?.level, "INFO");
    assert.match(await page.locator(".verdict .card").nth(2).textContent() ?? "", /^What to changeNothing/);
  });
});

test("whoever came by keyboard stays there when rows are made anew", async () => {
  await visit("slow", "", async (page) => {
    const where = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    const row = page.locator("#files .pick", { hasText: "fast.3" });
    await row.focus();
    await page.keyboard.press("Enter");
    assert.match(page.url(), /file=\d+/);
    assert.match(await where(), /fast\.3$/);
    await page.locator("#files th button", { hasText: "written" }).focus();
    await page.keyboard.press("Enter");
    assert.equal(await where(), "written");
    await colours(page, "heat");
    await page.locator("#heat button", { hasText: "calls" }).focus();
    await page.keyboard.press("Enter");
    await colours(page, "heat");
    assert.equal(await where(), "calls");
    await page.locator(".chip").first().focus();
    await page.keyboard.press("Enter");
    assert.equal(new URL(page.url()).hash, "");
  });
});

test("ranks over time can be bytes or calls instead of time", async () => {
  await visit("slow", "", async (page) => {
    const time = await colours(page, "heat");
    await page.locator("#heat button", { hasText: "bytes" }).click();
    const bytes = await colours(page, "heat");
    assert.notDeepEqual(bytes, time);
    assert.match(await page.locator("#heat .note").textContent() ?? "", /bytes of a pixel's time, as a share of the most/);
    // Every call moves as much: the most bytes are the most calls.
    await page.locator("#heat button", { hasText: "calls" }).click();
    assert.deepEqual(await colours(page, "heat"), bytes);
  });
});

test("a double click shows all again, and chooses nothing by the way", async () => {
  await visit("slow", "#time=20~60&ranks=3~9", async (page) => {
    const box = await centred(page, "calls-posix");
    // Rank 5 writes all the time.
    await page.mouse.dblclick(box.x + 94 + (box.width - 108) * 0.4, box.y + 6 + (box.height - 28) * (1 - 2.5 / 7));
    await page.waitForFunction(() => location.hash === "");
  });
});

test("a box over offsets and ranks is one step back", async () => {
  await visit("slow", "", async (page) => {
    const box = await centred(page, "places");
    await page.mouse.move(box.x + 200, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 120, { steps: 4 });
    await page.mouse.up();
    assert.match(page.url(), /ranks=\d+~\d+&offset=\d/);
    await page.keyboard.press("u");
    await page.waitForFunction(() => location.hash === "");
    await page.locator("#places-canvas").focus();
    await page.keyboard.press("+");
    await page.waitForFunction(() => location.hash.startsWith("#offset="));
    await page.keyboard.press("0");
    await page.waitForFunction(() => location.hash === "");
  });
});

test("nothing moves when pictures are drawn that come into sight", async () => {
  await visit("slow", "", async (page) => {
    const high = () => page.evaluate(() => document.documentElement.scrollHeight), before = await high();
    for (const id of ["calls-posix", "offsets", "durations", "places"]) await colours(page, id);
    assert.equal(await high(), before);
  });
});

test("the whole job shows opens and closes too", async () => {
  await visit("slow", "", async (page) => {
    assert.ok(((await colours(page, "timeline")).get(META) ?? 0) > 0);
  });
});

test("Shift and drag pans, Ctrl and wheel zoom, at every layer of the page alike", async () => {
  await visit("slow", "#time=20~40", async (page) => {
    const box = await centred(page, "heat"), [x, y] = [box.x + box.width / 2, box.y + 40];
    await page.mouse.move(x, y);
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(x - 200, y, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await page.waitForFunction(() => /time=2[1-9]/.test(location.hash));
    const before = new URL(page.url()).hash;
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -120);
    await page.keyboard.up("Control");
    await page.waitForFunction((was) => location.hash !== was, before);
    const [from, to] = /time=([\d.]+)~([\d.]+)/.exec(decodeURIComponent(page.url()))!.slice(1).map(Number) as [number, number];
    assert.ok(to - from < 19, `${from} to ${to}`);
  });
});

test("what is printed is not cut off", async () => {
  await visit("slow", "", async (page) => {
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 1200, height: 700 });
    const cut = await page.evaluate(() => [...document.querySelectorAll(".diagnosis, .what, .then, .verdict p")].filter((one) => one.scrollHeight > one.clientHeight + 2).map((one) => one.className));
    assert.deepEqual(cut, []);
  });
});

test("what is missing is said", async () => {
  await visit("untraced", "", async (page) => {
    assert.match(await page.locator(".absent").textContent() ?? "", /not traced/);
    await page.locator(".badge").click();
    assert.match(await page.locator("#caveats").textContent() ?? "", /Single calls were not traced/);
  });
});

test("a picture and its data can be saved", async () => {
  await visit("slow", "", async (page) => {
    const saved = async (act: () => Promise<void>) => { const [download] = await Promise.all([page.waitForEvent("download"), act()]); return { name: download.suggestedFilename(), text: readFileSync(await download.path()) }; };
    const picture = await saved(() => page.locator('#timeline [aria-label$="save as PNG"]').click());
    assert.equal(picture.name, "timeline.png");
    assert.deepEqual([...picture.text.subarray(1, 4)], [...Buffer.from("PNG")]);
    const table = await saved(() => page.locator('#files [aria-label$="save as CSV"]').click());
    assert.match(table.text.toString(), /^file,time,reading,writing,/);
    const vector = await saved(() => page.locator('#calls-posix [aria-label$="save as SVG"]').click());
    assert.match(vector.text.toString(), /^<svg [^>]*viewBox.*<image [^>]*href="data:image\/png;base64,.*POSIX rank<\/text>/s);
    const pixels = await saved(() => page.locator('#rank-time [aria-label$="save as PNG"]').click());
    assert.deepEqual([...pixels.text.subarray(1, 4)], [...Buffer.from("PNG")]);
    const drawing = await saved(() => page.locator('.chart [aria-label$="save as SVG"]').first().click());
    assert.match(drawing.text.toString(), /^<svg /);
  });
});

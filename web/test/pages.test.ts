// The list, the site, the runs of a program and a stored job with its analyses in a real browser, over a store that
// crates/cli/tests/pages.rs fills. NETRA_LIVE is the address with the token, NETRA_EXPECT what is in the store and what the analyses
// give, NETRA_SHOTS a folder for pictures.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type BrowserContext, type Page, chromium } from "playwright-core";
import { answersAsDescribed } from "./described";
import { count } from "../src/format";

interface Expected { jobs: number; job: string; program: string; runs: number; ranks: { rank: number; seconds: number }[] }

const address = process.env["NETRA_LIVE"] ?? "", expected = JSON.parse(process.env["NETRA_EXPECT"] ?? "{}") as Expected, shots = process.env["NETRA_SHOTS"];
const home = mkdtempSync(join(tmpdir(), "netra-pages-")), PATIENCE = 120_000;
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
let browser: BrowserContext;

before(async () => {
  browser = await chromium.launchPersistentContext(home, { executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet });
  const page = await browser.newPage();
  await page.goto(address);
  await page.waitForSelector("html[data-ready]", { timeout: PATIENCE });
  await page.close();
});
after(async () => {
  await browser.close();
  rmSync(home, { recursive: true, force: true });
});

/** Opens a page of the server, looks, and sees that it fits into wide and narrow windows, in light and in dark. So many answers are
 *  refusals, and nothing else is wrong. */
async function visit(name: string, path: string, look: (page: Page) => Promise<void>, refused = 0): Promise<void> {
  const page = await browser.newPage(), wrong: string[] = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) wrong.push(message.text()); });
  page.on("pageerror", (error) => wrong.push(error.message));
  await page.goto(new URL(path, address).href);
  await page.waitForSelector("html[data-ready]", { timeout: PATIENCE });
  await look(page);
  for (const [width, scheme] of [[1400, "light"], [900, "dark"], [420, "light"]] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(200);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${name} is ${over} wider than a window of ${width}`);
    if (shots) await page.screenshot({ path: join(shots, `${name}-${width}.png`), fullPage: true });
  }
  // Chromium itself complains of each answer that is a refusal.
  assert.deepEqual(wrong.filter((text) => !text.includes("status of 400")), []);
  assert.equal(wrong.length, refused);
  await page.close();
}

test("the list has every job of the store, and says what each is", async () => {
  await visit("jobs", "/", async (page) => {
    await page.locator(`tr[data-job]`).nth(expected.jobs - 1).waitFor({ timeout: PATIENCE });
    assert.equal(await page.locator("tr[data-job]").count(), expected.jobs);
    const row = page.locator(`tr[data-job="${expected.job}"]`);
    // The program's name is what people look for: it is not what is cut off.
    assert.ok((await row.locator("a").textContent())!.startsWith(expected.program));
    assert.equal(await row.locator("td").nth(4).textContent(), count(expected.ranks.length));
  });
});

test("what the server tells of stored jobs is what its description says", async () => {
  const job = `/api/jobs/${encodeURIComponent(expected.job)}`;
  await answersAsDescribed(address, [["/api/jobs", "/api/jobs"], ["/api/jobs/{job}", job], ["/api/jobs/{job}/report", `${job}/report`], ["/api/jobs/{job}/neighbours", `${job}/neighbours`],
    ["/api/site", "/api/site?days=36500"], ["/api/runs", `/api/runs?program=${expected.program}&days=36500`], ["/api/analyse", "/api/analyse"], ["/api/sql", "/api/sql?q=SELECT%20job%20FROM%20jobs"]]);
});

test("the site and the runs of a program are whole", async () => {
  await visit("site", "/site?days=36500", async (page) => {
    await page.locator("#programs tbody tr").first().waitFor({ timeout: PATIENCE });
    assert.match(await page.locator(".more").first().textContent() ?? "", new RegExp(`${count(expected.jobs)} jobs? that you may see`));
    const row = page.locator("#programs tbody tr", { hasText: expected.program });
    assert.equal(await row.locator("td").nth(1).textContent(), count(expected.runs));
    // Analyses of everything: each row of the answer is a bar.
    await page.locator("#analysis").selectOption("variability");
    await page.locator(".analysis-bars rect").first().waitFor({ timeout: PATIENCE });
    assert.equal(await page.locator(".analysis-bars rect").count(), await page.locator("#analysis-variability tbody tr").count());
    assert.deepEqual(await page.locator("#analysis option").allTextContents(), ["choose", "peers", "variability"]);
  });
  await visit("runs", `/runs/${expected.program}?days=36500`, async (page) => {
    await page.locator("#runs tbody tr").nth(expected.runs - 1).waitFor({ timeout: PATIENCE });
    assert.equal(await page.locator("#runs tbody tr").count(), expected.runs);
    const dots = await page.locator(".strip-chart").first().locator("circle").count();
    assert.equal(dots, expected.runs);
  });
});

test("analyses of a job are chosen, drawn and told by row; one that fails names its line", async () => {
  await visit("analyses", `/jobs/${encodeURIComponent(expected.job)}`, async (page) => {
    const choice = page.locator("#analysis");
    await choice.waitFor({ timeout: PATIENCE });
    await choice.selectOption("slow_ranks");
    await page.locator(".analysis-bars rect").first().waitFor({ timeout: PATIENCE });
    assert.equal(await page.locator(".analysis-bars rect").count(), expected.ranks.length);
    assert.match(await page.locator(".live-analyses p.muted").first().textContent() ?? "", /[Rr]anks/);
    // Another column draws another picture: the longest bar is the rank with most seconds.
    await page.getByLabel("column that is drawn").selectOption("seconds");
    const tall = await page.locator(".analysis-bars rect").evaluateAll((all) => all.map((one) => ({ tall: Number(one.getAttribute("height")), says: one.textContent ?? "" })));
    const most = tall.reduce((a, b) => a.tall >= b.tall ? a : b), slowest = expected.ranks.reduce((a, b) => a.seconds >= b.seconds ? a : b);
    assert.match(most.says, new RegExp(`^rank: ${slowest.rank}$`, "m"));
    const rows = page.locator("#analysis-slow_ranks tbody tr");
    assert.equal(await rows.count(), Math.min(12, expected.ranks.length));

    await choice.selectOption("broken");
    await page.locator(".analysis .error").waitFor({ timeout: PATIENCE });
    assert.match(await page.locator(".analysis .error").textContent() ?? "", /line 4 .*ZeroDivisionError/);
    await choice.selectOption("slow_ranks");
    await page.locator(".analysis-bars rect").first().waitFor({ timeout: PATIENCE });
  }, 1);
});

// Opens pages of a running job and measures one of them from outside, as its reader's browser does the work:
// `node build/live.js ADDRESS PAGES SECONDS WARM`. After WARM seconds it prints a line `begin`, after SECONDS more a line of JSON:
//
// - what the page's main thread did for each update, in milliseconds of processor time: everything that the thread ran from one
//   update to the next, so parsing, drawing, style, layout, and the report that comes now and then;
// - which count of events was in sight when, so that whoever made the events can say how long each waited until it was seen.

import { chromium } from "playwright-core";

interface Traced { name: string; pid: number; tid: number; ts: number; dur?: number; tdur?: number; args: { data?: { message?: string } } }

const [address, pages, time, warm] = process.argv.slice(2);
const quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
const browser = await chromium.launch({ executablePath: process.env["NETRA_CHROMIUM"] ?? "chromium", args: quiet });
const pause = (seconds: number) => new Promise((done) => setTimeout(done, seconds * 1000));

/** Each reader has a browser of their own, so that no two pages share a thread. */
async function reader() {
  const page = await (await browser.newContext({ viewport: { width: 1400, height: 900 } })).newPage();
  await page.goto(address!);
  await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
  return page;
}

const readers = [];
for (let at = 0; at < Number(pages); at++) readers.push(await reader());
/** The one whose work is measured. */
const front = readers.at(-1)!;
await pause(Number(warm));
// Another one is looked at for what is in sight: looking costs that page something.
const watched = readers[0]!;
await watched.evaluate(() => {
  const seen: [number, number][] = [];
  Object.assign(globalThis, { netraSeen: seen });
  const look = () => {
    const text = document.getElementById("now-events")?.textContent ?? "", shown = Number(/^[\d,]+/.exec(text)?.[0].replaceAll(",", ""));
    // What is in the document when a frame begins is on the screen when the next one does.
    if (shown > 0 && shown !== seen.at(-1)?.[1]) requestAnimationFrame(() => seen.push([Date.now(), shown]));
  };
  new MutationObserver(() => requestAnimationFrame(look)).observe(document.querySelector(".numbers")!, { childList: true, subtree: true, characterData: true });
});
// When each update came, by the clock of the trace.
const updates: number[] = [], wire = await front.context().newCDPSession(front);
wire.on("Network.eventSourceMessageReceived", (message) => { if (message.eventName === "job") updates.push(message.timestamp * 1e6); });
await wire.send("Network.enable");
await front.bringToFront();
console.log("begin");
await browser.startTracing(front, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline"] });
await front.evaluate(() => console.timeStamp("netra"));
await pause(Number(time));
const seen = await watched.evaluate(() => (globalThis as unknown as { netraSeen: [number, number][] }).netraSeen);
const traced = (JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: Traced[] }).traceEvents;

const own = traced.find((one) => one.name === "TimeStamp" && one.args.data?.message === "netra");
if (!own) throw new Error("the trace does not know the page");
const mine = traced.filter((one) => one.pid === own.pid && one.tid === own.tid).sort((a, b) => a.ts - b.ts);
// Writing the trace down takes a while, in which others come.
const last = mine.at(-1)?.ts ?? 0;
while (updates.length > 0 && updates.at(-1)! > last) updates.pop();
const spent = new Array<number>(Math.max(0, updates.length - 1)).fill(0);
const tasks = mine.filter((one) => one.name === "RunTask" && one.tdur !== undefined);
let at = 0, longest = 0;
for (const task of tasks) {
  // A task in which an update arrives belongs to it, although it began a little before.
  const end = task.ts + (task.dur ?? 0);
  while (at < updates.length && updates[at]! <= end) at++;
  if (at > 0 && at <= spent.length) { spent[at - 1]! += task.tdur! / 1000; longest = Math.max(longest, task.tdur! / 1000); }
}
spent.sort((a, b) => a - b);
if (mine.filter((one) => one.name === "FireAnimationFrame").length < spent.length) throw new Error("the page was not drawn");
const mean = spent.reduce((all, one) => all + one, 0) / spent.length;
console.log(JSON.stringify({ updates: spent.length, mean_ms: mean, median_ms: spent[Math.floor(spent.length / 2)], most_ms: spent.at(-1), longest_task_ms: longest, seen }));
await browser.close();

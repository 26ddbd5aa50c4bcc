// The line above a running job: is it live, how far behind, what moves now; pause, and back in time.

import type { Completeness } from "./model";
import type { History } from "./history";
import { sum } from "./history";
import { h } from "../element";
import { bytes, count, percent, seconds } from "../format";

export interface Controls {
  /** The moment that is looked at; nothing for now. */
  moment: number | null;
  paused: boolean;
}

/** Milliseconds after which an update is late: one comes each half second. */
const LATE = 900;

export class Strip {
  readonly node: HTMLElement;
  readonly #history: History;
  readonly #state = h("span", { class: "state", role: "status" });
  readonly #numbers = h("dl", { class: "numbers" });
  readonly #pause = h("button", { type: "button", id: "pause" }, "pause");
  readonly #back = h("input", { type: "range", id: "moment", min: "0", max: "1000", step: "1", value: "1000", "aria-label": "moment" });
  readonly #when = h("span", { class: "muted", id: "when" });
  readonly #link = h("button", { type: "button", class: "quiet", id: "share" }, "copy link to this moment");
  readonly controls: Controls;
  lost = false;
  #received = performance.now();
  /** Which numbers stand there. */
  #shown = "";

  constructor(history: History, controls: Controls, changed: () => void) {
    this.#history = history;
    this.controls = controls;
    this.#pause.addEventListener("click", () => { controls.paused = !controls.paused; if (!controls.paused) controls.moment = null; history.hold(controls.paused); changed(); this.update(); });
    this.#back.addEventListener("input", () => {
      const share = Number(this.#back.value) / 1000;
      controls.moment = share >= 1 ? null : share * history.end;
      changed(); this.update();
    });
    this.#link.addEventListener("click", () => {
      const words = new URLSearchParams(location.hash.replace(/^#/, ""));
      words.set("at", (controls.moment ?? history.end).toFixed(2));
      history.last && window.history.replaceState(null, "", `${location.pathname}#${words.toString()}`);
      void navigator.clipboard?.writeText(location.href);
      this.#link.textContent = "copied";
      setTimeout(() => { this.#link.textContent = "copy link to this moment"; }, 1500);
    });
    this.node = h("section", { class: "strip", "aria-label": "Now" }, this.#state, this.#numbers,
      h("div", { class: "scrub" }, this.#pause, this.#back, this.#when, this.#link));
  }

  /** Says something of a job of which nothing is known yet. */
  say(text: string): void {
    if (this.#history.last) return;
    this.#state.className = "state lost";
    this.#state.textContent = text;
  }

  received(): void { this.#received = performance.now(); }

  /** Says how far behind it is when nothing has come for a while; what comes says it itself. */
  wait(): void { if (performance.now() - this.#received > LATE) this.update(); }

  update(): void {
    const last = this.#history.newest;
    if (!last) return;
    const { moment, paused } = this.controls, running = last.state === "running", age = (performance.now() - this.#received) / 1000;
    // Of a job that has ended everything is here: whether its server still runs matters to nobody.
    const lag = last.lag + age, lost = this.lost && running;
    const kind = lost ? "lost" : !running ? "ended" : paused ? "paused" : "live";
    const words = { lost: "the server is gone; trying again", paused: "paused", live: `live, ${lag.toFixed(1)} s behind`, ended: `ended after ${seconds(last.elapsed)}` }[kind];
    // Only what differs is touched: each change is a frame that the browser has to make.
    if (this.#state.className !== `state ${kind}`) this.#state.className = `state ${kind}`;
    write(this.#state, words);
    this.#state.dataset["lag"] = lag.toFixed(3);
    write(this.#pause, !paused ? "pause" : running ? "go on" : "to the end");
    this.#pause.hidden = !running && !paused;
    const value = moment === null ? "1000" : String(Math.round(1000 * moment / this.#history.end));
    if (this.#back.value !== value) this.#back.value = value;
    write(this.#when, moment === null ? (paused ? "paused" : running ? "now" : "the end") : `${seconds(moment)} after the start`);
    const values = this.#values(moment), ids = values.map(([, , id]) => id).join();
    if (ids !== this.#shown) this.#numbers.replaceChildren(...values.flatMap(([name, , id]) => [h("dt", {}, name), h("dd", { id: `now-${id}` })]));
    this.#shown = ids;
    values.forEach(([, text], at) => write(this.#numbers.children[2 * at + 1]!, text));
  }

  /** Numbers of now, or of the second that is looked at. */
  #values(moment: number | null): [string, string, string][] {
    const last = this.#history.last!, step = moment === null ? null : this.#history.at(moment), width = this.#history.width;
    const of = (way: number, part: 2 | 3) => step ? (sum(step, 0, way, part) + sum(step, 1, way, part)) / width : 0;
    const calls = [0, 1, 2, 3].reduce((all, way) => all + of(way, 2), 0);
    const [read, written, rate] = moment === null ? [last.read_rate, last.write_rate, last.call_rate] : [of(0, 3), of(1, 3), calls];
    const found = moment === null ? last.diagnosis.standings.filter((one) => one.gone === null) : this.#history.standing(moment);
    // What has ended moves nothing any more.
    const values: [string, string, string][] = moment === null && last.state === "ended" ? [] : [
      ["reading", `${bytes(read)}/s`, "read-rate"], ["writing", `${bytes(written)}/s`, "write-rate"], ["calls", `${count(rate)}/s`, "call-rate"],
    ];
    values.push(["findings", count(found.length), "findings"]);
    if (moment === null) values.push(["read", bytes(last.bytes_read), "read"], ["written", bytes(last.bytes_written), "written"],
      ["reads", count(last.reads), "reads"], ["writes", count(last.writes), "writes"], ["in calls", percent(last.share), "share"], ["events", trust(last.completeness), "events"]);
    return values;
  }
}

/** Words in place of others, where they are others. */
function write(node: Element, text: string): void { if (node.textContent !== text) node.textContent = text; }

/** What became of the events, in a few words. */
export function trust(found: Completeness): string {
  // What a setting keeps out is not missed.
  const lost = found.dropped.filter((one) => one.reason !== "excluded" && one.reason !== "filtered").reduce((all, one) => all + one.events, 0) + found.missed_here;
  // A log has counters, and a trace that does not say what it lacks.
  if (found.produced === 0 && found.why !== undefined) return found.complete ? "counters" : "incomplete";
  if (found.complete) return `all ${count(found.produced)}`;
  // While a job runs, what was written and what came are mostly the same.
  if (lost === 0 && found.delivered === found.produced) return `${count(found.delivered)} so far`;
  const words = [`${count(found.delivered)} of ${count(found.produced)}`];
  if (lost > 0) words.push(`${count(lost)} lost`);
  return words.join(", ");
}

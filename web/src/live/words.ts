// How long things take and when they were, for people who look at many jobs.

import { seconds } from "../format";

/** Seconds below two minutes, then minutes, hours and days. */
export function duration(value: number): string {
  if (value < 120) return seconds(value);
  const parts: [number, string][] = [[86400, "d"], [3600, "h"], [60, "min"]];
  const at = parts.findIndex(([size]) => value >= size), [size, unit] = parts[at]!, rest = parts[at + 1];
  const whole = Math.floor(value / size), more = rest ? Math.floor(value % size / rest[0]) : 0;
  return more > 0 && rest ? `${whole} ${unit} ${more} ${rest[1]}` : `${whole} ${unit}`;
}

const pad = (value: number) => String(value).padStart(2, "0");

/** A moment as the reader's clock shows it. */
export function moment(value: number): string {
  const at = new Date(value * 1000);
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

// Colours. Reads are blue and writes orange, which everybody can tell apart; how much is
// lightness alone. The values stand in page.css, once for light and once for dark.

export type Rgb = readonly [number, number, number];

export interface Theme {
  ink: string; muted: string; line: string; ground: string;
  read: Rgb; write: Rgb; faded: Rgb; paper: Rgb; alarm: Rgb; meta: Rgb; accent: string;
  /** From little to much. */
  ramp: readonly Rgb[];
  css: (rgb: Rgb) => string;
}

function parse(text: string): Rgb {
  const hex = text.trim().replace("#", "");
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;
}

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: value("--ink"), muted: value("--muted"), line: value("--line"), ground: value("--panel"),
    accent: value("--accent"),
    read: parse(value("--read")), write: parse(value("--write")),
    faded: parse(value("--faded")), paper: parse(value("--panel")), alarm: parse(value("--alarm")), meta: parse(value("--meta")),
    ramp: ["--ramp-1", "--ramp-2", "--ramp-3", "--ramp-4", "--ramp-5", "--ramp-6"].map((n) => parse(value(n))),
    css: ([r, g, b]) => `rgb(${r} ${g} ${b})`,
  };
}

/** Between two colours. */
export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const part = Math.min(1, Math.max(0, share));
  return [0, 1, 2].map((i) => Math.round(a[i]! + (b[i]! - a[i]!) * part)) as unknown as Rgb;
}

/** Along the ramp; 0 to 1. */
export function along(ramp: readonly Rgb[], share: number): Rgb {
  const place = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
  const at = Math.min(ramp.length - 2, Math.floor(place));
  return mix(ramp[at]!, ramp[at + 1]!, place - at);
}

/** As a pixel of an ImageData seen as 32-bit words (little-endian, as every browser's machine is). */
export function pixel([r, g, b]: Rgb): number {
  return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

const KEY = "netra-theme";

/** Light, dark, or as the system has it; remembered where the browser lets us. */
export function initTheme(): void {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === "light" || kept === "dark") document.documentElement.dataset["theme"] = kept;
  } catch { /* a page opened from a file may have no storage */ }
}

export function toggleTheme(): void {
  const root = document.documentElement;
  const dark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset["theme"] = dark ? "light" : "dark";
  try { localStorage.setItem(KEY, root.dataset["theme"]); } catch { /* see above */ }
}

// Numbers as people read them; the same digits as the terminal report.

const PREFIX = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** Three significant digits, never in powers of ten. */
function three(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

export function bytes(value: number): string {
  if (value < 1024) return `${Math.round(value)} B`;
  let scaled = value / 1024, at = 0;
  while (scaled >= 999.5 && at + 1 < PREFIX.length) { scaled /= 1024; at++; }
  return `${three(scaled)} ${PREFIX[at]}`;
}

export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size >= 0.9995) return `${three(value)} s`;
  if (size >= 0.9995e-3) return `${three(value * 1e3)} ms`;
  if (size >= 0.9995e-6) return `${three(value * 1e6)} µs`;
  return `${three(value * 1e9)} ns`;
}

export function count(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** `12 %`, `0.3 %`, `99.7 %`. */
export function percent(share: number): string {
  const value = share * 100;
  if (value <= 0) return "0 %";
  if (value < 0.1) return "below 0.1 %";
  if (value >= 99.95) return "100 %";
  return value >= 10 && value <= 99 ? `${value.toFixed(0)} %` : `${value.toFixed(1)} %`;
}

export function rate(bytesMoved: number, time: number): string {
  return time > 0 ? `${bytes(bytesMoved / time)}/s` : "–";
}

/** A time on an axis whose ticks are this far apart. */
export function tick(value: number, step: number): string {
  const unit = step >= 1 ? [1, "s"] as const : step >= 1e-3 ? [1e3, "ms"] as const : [1e6, "µs"] as const;
  const scaled = value * unit[0], apart = step * unit[0];
  const digits = Math.max(0, -Math.floor(Math.log10(apart) + 1e-9));
  const text = digits > 0 ? scaled.toFixed(digits) : count(scaled);
  return `${text.replace(/^-0$/, "0")} ${unit[1]}`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** The end of a path, which is what tells files apart. */
export function shortPath(path: string, most = 48): string {
  return path.length <= most ? path : `…${path.slice(path.length - most + 1)}`;
}

/** A sentence of the report: begins with a capital, and numbers stay with their units. */
export function sentence(text: string): string {
  const kept = text.replace(/(\d) (%|s|ms|µs|ns|B|[KMGTPE]iB)(?![\w])/g, "$1\u00a0$2");
  return kept.charAt(0).toUpperCase() + kept.slice(1);
}

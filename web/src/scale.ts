// From values to pixels, and where ticks go.

export interface Scale {
  domain: readonly [number, number];
  at(value: number): number;
  value(pixel: number): number;
  ticks(most: number): { values: number[]; step: number };
}

export function linear(domain: readonly [number, number], pixels: readonly [number, number]): Scale {
  const [d0, d1] = domain, [p0, p1] = pixels;
  const k = d1 === d0 ? 0 : (p1 - p0) / (d1 - d0);
  return {
    domain,
    at: (value) => p0 + (value - d0) * k,
    value: (pixel) => k === 0 ? d0 : d0 + (pixel - p0) / k,
    ticks: (most) => niceTicks(Math.min(d0, d1), Math.max(d0, d1), most, 10),
  };
}

/** Logarithmic; the domain is above zero. */
export function log(domain: readonly [number, number], pixels: readonly [number, number]): Scale {
  const inner = linear([Math.log10(domain[0]), Math.log10(domain[1])], pixels);
  return {
    domain,
    at: (value) => inner.at(Math.log10(Math.max(value, domain[0]))),
    value: (pixel) => 10 ** inner.value(pixel),
    ticks: (most) => {
      const [low, high] = inner.domain;
      const step = Math.max(1, Math.ceil((high - low) / Math.max(1, most)));
      const values = [];
      for (let e = Math.ceil(low - 1e-9); e <= high + 1e-9; e += step) values.push(10 ** e);
      return { values, step: 1 };
    },
  };
}

/** Round steps of 1, 2 or 5 times a power of the base. Sizes in bytes use base 1024. */
export function niceTicks(low: number, high: number, most: number, base: 10 | 1024): { values: number[]; step: number } {
  const span = high - low;
  if (!(span > 0) || most < 1) return { values: [low], step: span || 1 };
  const raw = span / most;
  let step: number;
  if (base === 10) {
    const power = 10 ** Math.floor(Math.log10(raw));
    step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw * (1 - 1e-9))!;
  } else {
    step = 2 ** Math.ceil(Math.log2(Math.max(1, raw)));
  }
  const values = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) values.push(n * step + 0); // + 0: never "-0"
  return { values, step };
}

// Pixels by hand: bars into an image, with the number of what each pixel shows beside it.

/** An image of 32-bit pixels and, for each, which mark it shows; -1 is none. */
export class Image {
  readonly data: ImageData;
  readonly colour: Uint32Array;
  readonly pick: Int32Array;

  constructor(readonly wide: number, readonly high: number) {
    this.data = new ImageData(wide, high);
    this.colour = new Uint32Array(this.data.data.buffer);
    this.pick = new Int32Array(wide * high);
  }

  clear(paper: number): void {
    this.colour.fill(paper);
    this.pick.fill(-1);
  }

  /** Fills whole pixels, borders included; what lies outside is cut off. */
  bar(x0: number, x1: number, y0: number, y1: number, colour: number, mark: number): void {
    const left = x0 < 0 ? 0 : x0, right = x1 >= this.wide ? this.wide - 1 : x1;
    const top = y0 < 0 ? 0 : y0, bottom = y1 >= this.high ? this.high - 1 : y1;
    for (let y = top; y <= bottom; y++) {
      for (let at = y * this.wide + left, end = y * this.wide + right; at <= end; at++) {
        this.colour[at] = colour;
        this.pick[at] = mark;
      }
    }
  }

  /** The nearest mark around a pixel, because the pointer is wider than one. */
  near(x: number, y: number, reach: number): number {
    for (let far = 0; far <= reach; far++) for (let dy = -far; dy <= far; dy++) for (let dx = -far; dx <= far; dx++) {
      if (Math.max(Math.abs(dx), Math.abs(dy)) !== far) continue;
      const px = x + dx, py = y + dy;
      const found = px >= 0 && px < this.wide && py >= 0 && py < this.high ? this.pick[py * this.wide + px]! : -1;
      if (found !== -1) return found;
    }
    return -1;
  }

  /** Spreads the lines of another image over this one's rows, its first line at the bottom. Where
   *  lines are high enough, a hair of paper stands between them. */
  spread(lines: Image, paper: number, hair: number): void {
    const each = this.high / lines.high, gap = each > 5 * hair ? hair : 0;
    for (let y = 0; y < this.high; y++) {
      const up = (this.high - 1 - y) / each, line = Math.min(lines.high - 1, Math.floor(up));
      const to = y * this.wide;
      if (gap > 0 && (up - line) * each > each - 1 - gap) { this.colour.fill(paper, to, to + this.wide); this.pick.fill(-1, to, to + this.wide); continue; }
      const from = line * this.wide;
      this.colour.set(lines.colour.subarray(from, from + this.wide), to);
      this.pick.set(lines.pick.subarray(from, from + this.wide), to);
    }
  }
}

/** An image of a size; the one that is there serves where it fits. */
export function sized(image: Image | null, wide: number, high: number): Image {
  return image && image.wide === wide && image.high === high ? image : new Image(wide, high);
}

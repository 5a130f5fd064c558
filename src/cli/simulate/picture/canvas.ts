/** Dots of a picture, and how boxes, broken lines and letters are set in them. All lines are upright or level. */
import { glyphOf } from './glyphs.ts';

export interface Ink {
  /** As `#rrggbb`. */
  readonly colour: string;
  /** From 0 to 1; 1 when absent. */
  readonly opacity?: number;
}

export interface Pen extends Ink {
  readonly width: number;
  /** Dots drawn, then dots left out. */
  readonly dash?: readonly [number, number];
}

const CHANNELS = 3;
const LETTER_ADVANCE = 12;
/** Rows of a letter above the line it stands on. */
const LETTER_RISE = 14;

export class Canvas {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each dot, row after row. */
  readonly pixels: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.pixels = new Uint8Array(width * height * CHANNELS).fill(255);
  }

  box(x: number, y: number, wide: number, high: number, { colour, opacity = 1 }: Ink): void {
    const [left, top] = [Math.max(0, Math.round(x)), Math.max(0, Math.round(y))];
    const right = Math.min(this.width, Math.round(x + wide));
    const bottom = Math.min(this.height, Math.round(y + high));
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
    const mix = (below = 0, value: number): number => Math.round(below + (value - below) * opacity);
    for (let row = top; row < bottom; row += 1) {
      const last = (row * this.width + right) * CHANNELS;
      for (let at = (row * this.width + left) * CHANNELS; at < last; at += CHANNELS) {
        this.pixels[at] = mix(this.pixels[at], red);
        this.pixels[at + 1] = mix(this.pixels[at + 1], green);
        this.pixels[at + 2] = mix(this.pixels[at + 2], blue);
      }
    }
  }

  /** Through corners that lie above or beside each other; a dash goes on around them. */
  line(corners: readonly (readonly [number, number])[], pen: Pen): void {
    let drawn = 0;
    for (const [index, [x, y]] of corners.entries()) {
      const before = corners[index - 1];
      if (before === undefined) continue;
      const [fromX, fromY] = before;
      const long = Math.abs(x - fromX) + Math.abs(y - fromY);
      for (const [from, to] of dashes(drawn, long, pen.dash)) {
        const [startX, startY] = [fromX + Math.sign(x - fromX) * from, fromY + Math.sign(y - fromY) * from];
        const [endX, endY] = [fromX + Math.sign(x - fromX) * to, fromY + Math.sign(y - fromY) * to];
        // Half the pen to each side, and at the ends, so that corners are closed.
        const half = pen.width / 2;
        const [capX, capY] = pen.dash !== undefined ? [x === fromX ? half : 0, y === fromY ? half : 0] : [half, half];
        this.box(
          Math.min(startX, endX) - capX,
          Math.min(startY, endY) - capY,
          Math.abs(endX - startX) + capX * 2,
          Math.abs(endY - startY) + capY * 2,
          pen,
        );
      }
      drawn += long;
    }
  }

  /** `y` is the line that letters stand on; with `bold` each letter is set twice, one dot apart. */
  text(x: number, y: number, text: string, ink: Ink & { readonly bold?: boolean }): void {
    let left = Math.round(x);
    for (const letter of text) {
      const glyph = glyphOf(letter);
      for (let row = 0; row < glyph.high; row += 1) {
        for (let column = 0; column < glyph.wide; column += 1) {
          if (!glyph.isSet(column, row)) continue;
          this.box(left + column, Math.round(y) - LETTER_RISE + row, ink.bold === true ? 2 : 1, 1, ink);
        }
      }
      left += LETTER_ADVANCE;
    }
  }
}

export const textWidth = (text: string): number => Array.from(text).length * LETTER_ADVANCE;

/** As much of a text as fits, with an ellipsis where some is left out. */
export function cutToWidth(text: string, wide: number): string {
  const most = Math.max(1, Math.floor(wide / LETTER_ADVANCE));
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}

/** Which pieces of a straight line are drawn, when so much of the dash is behind it. */
function dashes(drawn: number, long: number, dash?: readonly [number, number]): (readonly [number, number])[] {
  if (dash === undefined) return [[0, long]];
  const [on, off] = dash;
  const every = on + off;
  const pieces: (readonly [number, number])[] = [];
  for (let start = -(drawn % every); start < long; start += every) {
    const [from, to] = [Math.max(0, start), Math.min(long, start + on)];
    if (to > from) pieces.push([from, to]);
  }
  return pieces;
}

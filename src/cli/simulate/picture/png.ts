import type { SimulationResult } from '../../../tasks/index.ts';
import { Canvas, cutToWidth, type Pen, textWidth } from './canvas.ts';
import { chartOf, FILLS, PENS, type Shape, TEXT_INK } from './chart.ts';
import { encodePng } from './png-file.ts';

/** Dots for each of the chart's own, so that it is sharp on dense screens. */
const SCALE = 2;
/** More would make a picture that few programs open. */
const MOST_BUDGETS = 50;

/** The timeline as a picture of dots: the same drawing as the other, twice as large. */
export function drawPng(result: SimulationResult, source = ''): Buffer {
  const { budgets } = result;
  const left = budgets.length - MOST_BUDGETS;
  // Those that were broken are what people look for.
  const shown = [...budgets].sort((a, b) => Number(b.violations.length > 0) - Number(a.violations.length > 0));
  const chart =
    left <= 0
      ? chartOf(result, source)
      : chartOf({ ...result, budgets: shown.slice(0, MOST_BUDGETS) }, `${left} more budgets: see .html. ${source}`);
  const canvas = new Canvas(chart.width * SCALE, chart.height * SCALE);
  for (const shape of chart.shapes) paint(canvas, shape);
  return encodePng(canvas);
}

function paint(canvas: Canvas, shape: Shape): void {
  switch (shape.kind) {
    case 'text':
      paintText(canvas, shape);
      return;
    case 'mark': {
      const ends = [shape.top, shape.bottom].map((y) => [shape.x * SCALE, y * SCALE] as const);
      canvas.line(ends, penOf(shape.role));
      return;
    }
    case 'box': {
      const { height, role, width, x, y } = shape;
      canvas.box(x * SCALE, y * SCALE, width * SCALE, height * SCALE, FILLS[role]);
      return;
    }
    case 'levels':
      paintLevels(canvas, shape);
  }
}

function paintText(canvas: Canvas, { anchor, role, room, text, x, y }: Extract<Shape, { kind: 'text' }>): void {
  const shown = room === undefined ? text : cutToWidth(text, room * SCALE);
  const before = anchor === 'end' ? textWidth(shown) : anchor === 'middle' ? textWidth(shown) / 2 : 0;
  const bold = role === 'title' || role === 'name';
  canvas.text(x * SCALE - before, y * SCALE, shown, { ...TEXT_INK, bold });
}

function paintLevels(canvas: Canvas, { end, floor, levels, role }: Extract<Shape, { kind: 'levels' }>): void {
  const held = levels.map(([x, y], index) => {
    return { from: x * SCALE, to: (levels[index + 1]?.[0] ?? end) * SCALE, y: y * SCALE };
  });
  if (role === 'area') {
    const bottom = (floor ?? 0) * SCALE;
    for (const { from, to, y } of held) canvas.box(from, y, to - from, bottom - y, FILLS.area);
    return;
  }
  const corners = held.flatMap(({ from, to, y }) => [[from, y] as const, [to, y] as const]);
  canvas.line(corners, penOf(role));
}

function penOf(role: keyof typeof PENS): Pen {
  const { colour, dash, width }: Pen = PENS[role];
  const pen = { colour, width: width * SCALE };
  return dash === undefined ? pen : { ...pen, dash: [dash[0] * SCALE, dash[1] * SCALE] };
}

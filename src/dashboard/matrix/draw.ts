/** Draws the part of the matrix that is in view. */
import { type Mark, MARKS } from '../../fleet/index.ts';
import { SHAPES } from '../parts/shapes.ts';
import type { Cell, Layout, Row } from './layout.ts';

export interface Theme {
  readonly marks: Readonly<Record<Mark, string>>;
  readonly text: string;
  readonly faint: string;
  readonly line: string;
  readonly surface: string;
  readonly accent: string;
  readonly chosen: string;
  readonly closed: string;
}

export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    marks: Object.fromEntries(MARKS.map((mark) => [mark, read(`--mark-${mark}`)])) as Record<Mark, string>,
    text: read('--text'),
    faint: read('--text-faint'),
    line: read('--line'),
    surface: read('--surface'),
    accent: read('--accent'),
    chosen: read('--chosen'),
    closed: read('--closed'),
  };
}

export interface View {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  readonly cell: number;
  readonly gutter: number;
  readonly header: number;
}

export interface Scene {
  readonly layout: Layout;
  readonly view: View;
  readonly theme: Theme;
  readonly chosen: ReadonlySet<string>;
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
  readonly hover: { readonly row: number; readonly column: number } | undefined;
}

/** Below this a mark is a dot of colour. */
const SHAPE_FROM = 9;
const TEXT_FROM = 11;
/** How wide one is in the names of nodes, of which all are as wide. */
const CHARACTER = 7.25;
/** Longer names of groups would stand out of the top. */
const MOST_IN_HEADER = 13;
const paths = new Map<Mark, Path2D>();

function pathOf(mark: Mark): Path2D {
  let path = paths.get(mark);
  if (path === undefined) paths.set(mark, (path = new Path2D(SHAPES[mark].path)));
  return path;
}

export function draw(context: CanvasRenderingContext2D, scene: Scene): void {
  const { theme, view } = scene;
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, view.width, view.height);
  const rows = visibleRows(scene);
  drawBands(context, scene, rows);
  context.save();
  context.beginPath();
  context.rect(view.gutter, view.header, view.width - view.gutter, view.height - view.header);
  context.clip();
  drawCells(context, scene, rows);
  drawFocus(context, scene);
  context.restore();
  drawNames(context, scene, rows);
  drawGroupNames(context, scene);
}

interface Range {
  readonly from: number;
  readonly to: number;
}

function visibleRows({ layout, view }: Scene): Range {
  const from = Math.max(0, Math.floor(view.top / view.cell));
  const to = Math.min(layout.rows.length, Math.ceil((view.top + view.height - view.header) / view.cell));
  return { from, to };
}

function drawBands(
  context: CanvasRenderingContext2D,
  { chosen, layout, theme, view }: Scene,
  { from, to }: Range,
): void {
  for (let at = from; at < to; at += 1) {
    const row = layout.rows[at] as Row;
    const y = view.header + at * view.cell - view.top;
    const band = chosen.has(row.node) ? theme.chosen : row.cordoned || !row.ready ? theme.closed : undefined;
    if (band !== undefined) {
      context.fillStyle = band;
      context.fillRect(0, y, view.width, view.cell);
    }
    if (view.cell >= SHAPE_FROM) {
      context.fillStyle = theme.line;
      context.fillRect(0, y + view.cell - 1, view.width, 1);
    }
  }
}

function drawCells(context: CanvasRenderingContext2D, scene: Scene, { from, to }: Range): void {
  const { layout, view } = scene;
  const firstColumn = Math.floor(view.left / view.cell);
  const lastColumn = Math.ceil((view.left + view.width - view.gutter) / view.cell);
  for (let at = from; at < to; at += 1) {
    const { cells } = layout.rows[at] as Row;
    const y = view.header + at * view.cell - view.top;
    for (let index = lowerBound(cells, firstColumn); index < cells.length; index += 1) {
      const cell = cells[index] as Cell;
      if (cell.column > lastColumn) break;
      drawMark(context, scene, cell, view.gutter + cell.column * view.cell - view.left, y);
    }
  }
}

function lowerBound(cells: readonly Cell[], column: number): number {
  let low = 0;
  let high = cells.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cells[middle] as Cell).column < column) low = middle + 1;
    else high = middle;
  }
  return low;
}

function drawMark(
  context: CanvasRenderingContext2D,
  { layout, theme, view }: Scene,
  cell: Cell,
  x: number,
  y: number,
): void {
  const mark = layout.columns[cell.column]?.mark ?? 'whole';
  const colour = theme.marks[mark];
  const size = view.cell;
  if (size < SHAPE_FROM) {
    context.fillStyle = colour;
    context.fillRect(x, y, Math.max(1, size - (size > 3 ? 1 : 0)), Math.max(1, size - (size > 3 ? 1 : 0)));
    return;
  }
  const scale = (size - 2) / 16;
  context.translate(x + 1, y + 0.5);
  context.scale(scale, scale);
  if (SHAPES[mark].stroked) {
    context.strokeStyle = colour;
    context.lineWidth = 3;
    context.stroke(pathOf(mark));
  } else {
    context.fillStyle = colour;
    context.fill(pathOf(mark));
  }
  context.scale(1 / scale, 1 / scale);
  context.translate(-x - 1, -y - 0.5);
  if (cell.count > 1 && size >= 18 && !SHAPES[mark].stroked) {
    context.fillStyle = theme.surface;
    context.font = `600 ${Math.round(size * 0.5)}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(String(cell.count), x + size / 2, y + size / 2 + 0.5);
  }
}

function drawFocus(context: CanvasRenderingContext2D, { cursor, hover, theme, view }: Scene): void {
  for (const [place, width] of [
    [hover, 1],
    [cursor, 2],
  ] as const) {
    if (place === undefined) continue;
    context.strokeStyle = theme.accent;
    context.lineWidth = width;
    context.strokeRect(
      view.gutter + place.column * view.cell - view.left,
      view.header + place.row * view.cell - view.top,
      view.cell,
      view.cell,
    );
  }
}

function drawNames(context: CanvasRenderingContext2D, scene: Scene, { from, to }: Range): void {
  const { chosen, layout, theme, view } = scene;
  context.save();
  context.beginPath();
  context.rect(0, view.header, view.gutter, view.height);
  context.clip();
  context.fillStyle = theme.surface;
  context.fillRect(0, view.header, view.gutter, view.height);
  drawBands(context, { ...scene, view: { ...view, width: view.gutter } }, { from, to });
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  // Names that would overlap are left out.
  const every = Math.max(1, Math.ceil(TEXT_FROM / view.cell));
  const indent = view.cell >= 16 ? 24 : 8;
  const most = Math.floor((view.gutter - indent - 4) / CHARACTER);
  context.font = `12px ui-monospace, SFMono-Regular, Menlo, monospace`;
  for (let at = from - (from % every); at < to; at += every) {
    const row = layout.rows[at];
    if (row === undefined) continue;
    const y = view.header + at * view.cell - view.top + Math.max(view.cell, TEXT_FROM) / 2;
    context.fillStyle = chosen.has(row.node) ? theme.accent : row.ready ? theme.text : theme.marks.broken;
    const box = chosen.has(row.node) ? '☑' : '☐';
    if (view.cell >= 16) context.fillText(box, 6, y);
    const suffix = row.ready ? (row.cordoned ? ' ⊘' : '') : ' ✕';
    context.fillText(`${fitting(row.node, most - suffix.length)}${suffix}`, indent, y);
  }
  context.restore();
  context.fillStyle = theme.line;
  context.fillRect(view.gutter - 1, view.header, 1, view.height);
}

function drawGroupNames(context: CanvasRenderingContext2D, { cursor, hover, layout, theme, view }: Scene): void {
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, view.width, view.header);
  context.fillStyle = theme.line;
  context.fillRect(0, view.header - 1, view.width, 1);
  context.fillStyle = theme.faint;
  context.font = '12px system-ui, sans-serif';
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.fillText(`${layout.rows.length} nodes`, 8, view.header - 24);
  context.fillText(`${layout.columns.length} groups →`, 8, view.header - 8);
  const every = Math.max(1, Math.ceil(14 / view.cell));
  const first = Math.max(0, Math.floor(view.left / view.cell));
  const last = Math.min(layout.columns.length, Math.ceil((view.left + view.width - view.gutter) / view.cell));
  context.save();
  context.beginPath();
  context.rect(view.gutter, 0, view.width - view.gutter, view.header);
  context.clip();
  context.font = '11px ui-monospace, SFMono-Regular, Menlo, monospace';
  for (let at = first - (first % every); at < last; at += every) {
    const group = layout.columns[at];
    if (group === undefined) continue;
    const x = view.gutter + at * view.cell - view.left + view.cell / 2;
    context.save();
    context.translate(x + 3, view.header - 6);
    context.rotate(-Math.PI / 3);
    context.fillStyle = at === cursor?.column || at === hover?.column ? theme.accent : theme.faint;
    context.fillText(shortName(group.name), 0, 0);
    context.restore();
  }
  context.restore();
}

/** What follows the kind; the rest of a long name is in the tip. */
function shortName(name: string): string {
  const short = name.replace(/ \(single pods\)$/, '').replace(/^[A-Za-z]+\//, '');
  return short.length > MOST_IN_HEADER ? `${short.slice(0, MOST_IN_HEADER - 1)}…` : short;
}

/** Names of nodes differ at either end: where there is no room their middle is left out. */
function fitting(name: string, most: number): string {
  if (name.length <= most) return name;
  const start = Math.max(1, Math.floor((most - 1) / 2));
  return `${name.slice(0, start)}…${name.slice(name.length - Math.max(1, most - 1 - start))}`;
}

/** Where a pointer or a key leads in the matrix. */
import type { View } from './draw.ts';
import type { Layout } from './layout.ts';

export interface MatrixPlace {
  readonly row: number;
  /** -1: the node itself, left of the groups. */
  readonly column: number;
}

/** The place under a point; undefined above the rows and outside. */
export function placeAt(
  layout: Layout,
  view: View,
  point: { readonly x: number; readonly y: number },
): MatrixPlace | undefined {
  const { x, y } = point;
  const { cell, gutter, header, height, left, top, width } = view;
  if (y < header || x > width || y > height) return undefined;
  const row = Math.floor((y - header + top) / cell);
  const column = x < gutter ? -1 : Math.floor((x - gutter + left) / cell);
  return row < layout.rows.length && column < layout.columns.length ? { row, column } : undefined;
}

/** Where a key moves the cursor: to the next group on the node, or with ctrl to the next column. */
export function moveBy(
  { ctrlKey, key }: Pick<KeyboardEvent, 'ctrlKey' | 'key'>,
  { column, row }: MatrixPlace,
  { columns, rows }: Layout,
  page: number,
): MatrixPlace | undefined {
  const cells = rows[row]?.cells ?? [];
  const after = cells.find((one) => one.column > column)?.column ?? column;
  const before = cells.findLast((one) => one.column < column)?.column ?? column;
  const moves: Readonly<Record<string, MatrixPlace>> = {
    ArrowDown: { row: row + 1, column },
    ArrowUp: { row: row - 1, column },
    ArrowRight: { row, column: ctrlKey ? column + 1 : after },
    ArrowLeft: { row, column: ctrlKey ? column - 1 : before },
    PageDown: { row: row + page, column },
    PageUp: { row: row - page, column },
    Home: { row: ctrlKey ? 0 : row, column: 0 },
    End: { row: ctrlKey ? rows.length - 1 : row, column: columns.length - 1 },
  };
  const to = moves[key];
  return (
    to && {
      row: Math.max(0, Math.min(rows.length - 1, to.row)),
      column: Math.max(0, Math.min(columns.length - 1, to.column)),
    }
  );
}

/** Scrolls so that a place is seen; one outside comes to the middle. */
export function reveal(
  element: HTMLElement,
  { column, row }: MatrixPlace,
  { cell, gutter, header, height, width }: View,
): void {
  const top = row * cell;
  const left = column * cell;
  const roomY = height - header - cell;
  const roomX = width - gutter - cell;
  if (top < element.scrollTop || top > element.scrollTop + roomY) element.scrollTop = top - roomY / 2;
  if (left < element.scrollLeft || left > element.scrollLeft + roomX) element.scrollLeft = left - roomX / 2;
}

/** Nodes × groups on a canvas that shows what is in view, with a cursor for keyboards and screen readers. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ShownGroup } from '../fleet/group-book.ts';
import { MARK_WORDS } from '../fleet/marks.ts';
import { draw, readTheme, type Theme, type View } from './draw.ts';
import type { Layout, Row } from './layout.ts';

export interface MatrixProps {
  readonly layout: Layout;
  readonly chosen: ReadonlySet<string>;
  readonly cell: number;
  readonly zoom: (by: number) => void;
  readonly toggle: (nodes: readonly string[], on: boolean) => void;
  readonly open: (group: ShownGroup) => void;
}

interface Place {
  readonly row: number;
  readonly column: number;
}

const HEADER = 84;

export function Matrix({ cell, chosen, layout, open, toggle, zoom }: MatrixProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cursor, setCursor] = useState<Place>({ row: 0, column: 0 });
  const [hover, setHover] = useState<(Place & { x: number; y: number }) | undefined>(undefined);
  const [focused, setFocused] = useState(false);
  const [theme, setTheme] = useState<Theme | undefined>(undefined);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const gutter = size.width < 500 ? 96 : 148;
  const scene = useRef<() => void>(() => {});

  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const measure = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    measure.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const read = (): void => setTheme(readTheme(element));
    read();
    dark.addEventListener('change', read);
    return () => {
      measure.disconnect();
      dark.removeEventListener('change', read);
    };
  }, []);

  useEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1 : -1);
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, [zoom]);

  const viewNow = (): View => {
    const element = scroller.current as HTMLDivElement;
    return { ...size, left: element.scrollLeft, top: element.scrollTop, cell, gutter, header: HEADER };
  };

  useLayoutEffect(() => {
    scene.current = () => {
      const element = canvas.current;
      const context = element?.getContext('2d', { alpha: false });
      if (element === null || !context || theme === undefined || size.width === 0) return;
      const ratio = window.devicePixelRatio || 1;
      const width = Math.round(size.width * ratio);
      const height = Math.round(size.height * ratio);
      if (element.width !== width) element.width = width;
      if (element.height !== height) element.height = height;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      draw(context, { layout, view: viewNow(), theme, chosen, cursor: focused ? cursor : undefined, hover });
    };
    scene.current();
  });

  let frame = 0;
  const scrolled = (): void => {
    if (frame !== 0) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      scene.current();
    });
  };

  const placeOf = (event: MouseEvent): Place | undefined => {
    const box = (scroller.current as HTMLDivElement).getBoundingClientRect();
    const view = viewNow();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    if (y < HEADER || x > size.width || y > size.height) return undefined;
    const row = Math.floor((y - HEADER + view.top) / cell);
    const column = x < gutter ? -1 : Math.floor((x - gutter + view.left) / cell);
    return row < layout.rows.length && column < layout.columns.length ? { row, column } : undefined;
  };

  const moved = (event: MouseEvent): void => {
    const place = placeOf(event);
    const box = (scroller.current as HTMLDivElement).getBoundingClientRect();
    setHover(place && { ...place, x: event.clientX - box.left, y: event.clientY - box.top });
  };

  const clicked = (event: MouseEvent): void => {
    const place = placeOf(event);
    if (place === undefined) return;
    const row = layout.rows[place.row] as Row;
    setCursor({ row: place.row, column: Math.max(0, place.column) });
    const group = layout.columns[place.column];
    if (group !== undefined && row.cells.some(({ column }) => column === place.column)) open(group);
    else if (event.shiftKey) {
      const [from, to] = [cursor.row, place.row].sort((a, b) => a - b) as [number, number];
      toggle(
        layout.rows.slice(from, to + 1).map(({ node }) => node),
        true,
      );
    } else toggle([row.node], !chosen.has(row.node));
  };

  const go = (row: number, column: number): void => {
    const next = {
      row: Math.max(0, Math.min(layout.rows.length - 1, row)),
      column: Math.max(0, Math.min(layout.columns.length - 1, column)),
    };
    setCursor(next);
    const element = scroller.current as HTMLDivElement;
    const top = next.row * cell;
    const left = next.column * cell;
    const roomY = size.height - HEADER - cell;
    const roomX = size.width - gutter - cell;
    if (top < element.scrollTop || top > element.scrollTop + roomY) element.scrollTop = top - roomY / 2;
    if (left < element.scrollLeft || left > element.scrollLeft + roomX) element.scrollLeft = left - roomX / 2;
  };

  /** The next group on the same node. */
  const along = (by: 1 | -1): number => {
    const cells = layout.rows[cursor.row]?.cells ?? [];
    const next =
      by === 1
        ? cells.find(({ column }) => column > cursor.column)
        : [...cells].reverse().find(({ column }) => column < cursor.column);
    return next?.column ?? cursor.column;
  };

  const keyed = (event: KeyboardEvent): void => {
    const { column, row } = cursor;
    const page = Math.max(1, Math.floor((size.height - HEADER) / cell) - 1);
    const keys: Record<string, () => void> = {
      ArrowDown: () => go(row + 1, column),
      ArrowUp: () => go(row - 1, column),
      ArrowRight: () => go(row, event.ctrlKey ? column + 1 : along(1)),
      ArrowLeft: () => go(row, event.ctrlKey ? column - 1 : along(-1)),
      PageDown: () => go(row + page, column),
      PageUp: () => go(row - page, column),
      Home: () => go(event.ctrlKey ? 0 : row, 0),
      End: () => go(event.ctrlKey ? layout.rows.length - 1 : row, layout.columns.length - 1),
      '+': () => zoom(1),
      '-': () => zoom(-1),
      ' ': () => {
        const node = layout.rows[row]?.node;
        if (node !== undefined) toggle([node], !chosen.has(node));
      },
      Enter: () => {
        const group = layout.columns[column];
        if (group !== undefined && layout.rows[row]?.cells.some((one) => one.column === column)) open(group);
      },
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  const at = layout.rows[cursor.row];
  return (
    <div class="matrix-frame">
      <div
        ref={scroller}
        class="matrix"
        role="grid"
        tabIndex={0}
        aria-label="Nodes and the groups on them. Arrow keys move, space chooses a node, enter opens a group."
        aria-rowcount={layout.rows.length}
        aria-colcount={layout.columns.length}
        aria-multiselectable="true"
        aria-activedescendant="matrix-cursor"
        onScroll={scrolled}
        onMouseMove={moved}
        onMouseLeave={() => setHover(undefined)}
        onClick={clicked}
        onKeyDown={keyed}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        <canvas ref={canvas} aria-hidden="true" />
        <div
          class="matrix-room"
          aria-hidden="true"
          style={{
            width: `${gutter + layout.columns.length * cell + 40}px`,
            height: `${HEADER + layout.rows.length * cell}px`,
          }}
        />
        <div class="offscreen" role="row" aria-rowindex={cursor.row + 1}>
          <span
            role="gridcell"
            id="matrix-cursor"
            aria-colindex={cursor.column + 1}
            aria-selected={at !== undefined && chosen.has(at.node)}
          >
            {describe(layout, cursor)}
          </span>
        </div>
      </div>
      {hover !== undefined && <Tip layout={layout} place={hover} x={hover.x} y={hover.y} width={size.width} />}
    </div>
  );
}

function describe({ columns, rows }: Layout, { column, row }: Place): string {
  const at = rows[row];
  if (at === undefined) return 'No node.';
  const state = at.ready ? (at.cordoned ? ', cordoned' : '') : ', not ready';
  const cell = at.cells.find((one) => one.column === column);
  const group = columns[column];
  if (cell === undefined || group === undefined) return `${at.node}${state}: ${at.cells.length} groups.`;
  return `${at.node}${state}: ${cell.count} pods of ${group.id}, ${MARK_WORDS[group.mark].label}, ${group.healthy} healthy of ${group.members.length}, needs ${group.needed}.`;
}

interface TipProps {
  readonly layout: Layout;
  readonly place: Place;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

function Tip({ layout, place, width, x, y }: TipProps) {
  const row = layout.rows[place.row];
  if (row === undefined) return null;
  const cell = row.cells.find(({ column }) => column === place.column);
  const group = cell && layout.columns[place.column];
  return (
    <div
      class="tip"
      aria-hidden="true"
      style={{ left: `${Math.min(x + 14, Math.max(0, width - 280))}px`, top: `${y + 14}px` }}
    >
      <strong>{row.node}</strong> {row.cordoned && 'cordoned'} {!row.ready && 'not ready'}
      {group === undefined ? (
        <div>{row.cells.length} groups; click to choose it for a drain</div>
      ) : (
        <>
          <div class="mono">{group.id}</div>
          <div>
            {MARK_WORDS[group.mark].label}: {group.healthy} healthy of {group.members.length}
            {group.single ? '' : `, needs ${group.needed}`}; {cell?.count} here
          </div>
        </>
      )}
    </div>
  );
}

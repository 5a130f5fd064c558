/** Nodes × groups on a canvas that shows what is in view, with a cursor for keyboards and screen readers. */
import { useRef, useState } from 'preact/hooks';
import { MARK_WORDS, type ShownGroup } from '../../fleet/index.ts';
import { moveBy, type MatrixPlace, placeAt, reveal } from './cursor.ts';
import { draw, type View } from './draw.ts';
import { usePainting, useSize, useTheme, useWheelZoom } from './hooks.ts';
import type { Layout, Row } from './layout.ts';

export interface MatrixProps {
  readonly layout: Layout;
  readonly chosen: ReadonlySet<string>;
  readonly cell: number;
  readonly zoom: (by: number) => void;
  readonly toggle: (nodes: readonly string[], on: boolean) => void;
  readonly open: (group: ShownGroup) => void;
}

const HEADER = 84;

export function Matrix(props: MatrixProps) {
  const { cell, chosen, layout, open, toggle, zoom } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cursor, setCursor] = useState<MatrixPlace>({ row: 0, column: 0 });
  const [hover, setHover] = useState<(MatrixPlace & { x: number; y: number }) | undefined>(undefined);
  const [focused, setFocused] = useState(false);
  const theme = useTheme(scroller);
  const size = useSize(scroller);
  const gutter = size.width < 500 ? 116 : 148;
  useWheelZoom(scroller, zoom);

  const viewNow = (): View => {
    const { scrollLeft: left, scrollTop: top } = scroller.current as HTMLDivElement;
    return { ...size, left, top, cell, gutter, header: HEADER };
  };
  const repaint = usePainting(canvas, size, (context) => {
    if (theme === undefined) return;
    draw(context, { layout, view: viewNow(), theme, chosen, cursor: focused ? cursor : undefined, hover });
  });
  const pointOf = (event: MouseEvent) => {
    const box = (scroller.current as HTMLDivElement).getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const moved = (event: MouseEvent): void => {
    const point = pointOf(event);
    const place = placeAt(layout, viewNow(), point);
    setHover(place && { ...place, ...point });
  };
  const clicked = (event: MouseEvent): void => {
    const place = placeAt(layout, viewNow(), pointOf(event));
    if (place === undefined) return;
    setCursor({ row: place.row, column: Math.max(0, place.column) });
    act(props, place, event.shiftKey ? cursor.row : undefined);
  };
  const keyed = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((size.height - HEADER) / cell) - 1);
    const next = moveBy(event, cursor, layout, page);
    const node = layout.rows[cursor.row]?.node;
    if (next !== undefined) {
      setCursor(next);
      reveal(scroller.current as HTMLDivElement, next, viewNow());
    } else if (event.key === '+' || event.key === '-') zoom(event.key === '+' ? 1 : -1);
    else if (event.key === ' ' && node !== undefined) toggle([node], !chosen.has(node));
    else if (event.key === 'Enter') {
      const group = groupAt(layout, cursor);
      if (group !== undefined) open(group);
    } else if (event.key !== ' ') return;
    event.preventDefault();
  };
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
        onScroll={repaint}
        onMouseMove={moved}
        onMouseLeave={() => setHover(undefined)}
        onClick={clicked}
        onKeyDown={keyed}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        <canvas ref={canvas} aria-hidden="true" />
        <Extent width={gutter + layout.columns.length * cell + 40} height={HEADER + layout.rows.length * cell} />
        <SpokenCursor layout={layout} chosen={chosen} cursor={cursor} />
      </div>
      {hover !== undefined && <Tip layout={layout} place={hover} x={hover.x} y={hover.y} width={size.width} />}
    </div>
  );
}

/** A click on a group opens it; one beside chooses the node, with shift all nodes from the row before. */
function act({ chosen, layout, open, toggle }: MatrixProps, place: MatrixPlace, since: number | undefined): void {
  const group = groupAt(layout, place);
  const { node } = layout.rows[place.row] as Row;
  if (group !== undefined) open(group);
  else if (since === undefined) toggle([node], !chosen.has(node));
  else {
    const rows = layout.rows.slice(Math.min(since, place.row), Math.max(since, place.row) + 1);
    toggle(
      rows.map((row) => row.node),
      true,
    );
  }
}

function groupAt({ columns, rows }: Layout, { column, row }: MatrixPlace): ShownGroup | undefined {
  return rows[row]?.cells.some((one) => one.column === column) ? columns[column] : undefined;
}

/** Makes the scroller as large as everything there is to see. */
function Extent({ height, width }: { height: number; width: number }) {
  return <div class="matrix-room" aria-hidden="true" style={{ width: `${width}px`, height: `${height}px` }} />;
}

function SpokenCursor({ chosen, cursor, layout }: Pick<MatrixProps, 'chosen' | 'layout'> & { cursor: MatrixPlace }) {
  const at = layout.rows[cursor.row];
  return (
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
  );
}

function describe({ columns, rows }: Layout, { column, row }: MatrixPlace): string {
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
  readonly place: MatrixPlace;
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

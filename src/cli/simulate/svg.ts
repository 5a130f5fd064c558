import type { BudgetLine, SimulationResult } from '../../tasks/index.ts';
import { formatSpan } from './text.ts';

const LEFT = 220;
const PLOT = 700;
const ROW = 84;
const HIGH = 52;
const TOP = 48;

/** The timeline as a picture: for each budget a step line of what is available, and what it asks for. */
export function drawSimulation({ budgets, seconds }: SimulationResult): string {
  const height = TOP + budgets.length * ROW + 40;
  const width = LEFT + PLOT + 40;
  const span = Math.max(seconds, 1);
  const x = (at: number): number => round(LEFT + (Math.min(at, span) / span) * PLOT);
  const rows = budgets.map((budget, index) => drawRow(budget, { top: TOP + index * ROW, x, span }));
  const ticks = Array.from({ length: 6 }, (_, at) => Math.round((span / 5) * at)).map(
    (at) =>
      `<line class="tick" x1="${x(at)}" y1="${TOP - 6}" x2="${x(at)}" y2="${height - 34}"/>` +
      `<text x="${x(at)}" y="${height - 16}" text-anchor="middle">${formatSpan(at)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Available groups per budget over time">
<style>
text{font:12px system-ui,sans-serif;fill:#334155}.title{font-size:15px;font-weight:600}.name{font-weight:600}
.tick{stroke:#e2e8f0}.available{fill:none;stroke:#2563eb;stroke-width:2}.area{fill:#2563eb;opacity:.12}
.desired{fill:none;stroke:#d97706;stroke-width:1.5;stroke-dasharray:5 4}.violation{fill:#dc2626;opacity:.25}
</style>
<rect width="${width}" height="${height}" fill="#fff"/>
<text class="title" x="16" y="26">Available groups per budget</text>
<text x="${width - 40}" y="26" text-anchor="end">blue: available, dashed: wanted, red: below the budget</text>
${ticks.join('\n')}
${rows.join('\n')}
</svg>
`;
}

function drawRow(
  { id, points, unit, violations }: BudgetLine,
  { span, top, x }: { top: number; x: (at: number) => number; span: number },
): string {
  const most = Math.max(1, ...points.flatMap(({ available, desired }) => [available, desired]));
  const y = (count: number): number => round(top + HIGH - (count / most) * (HIGH - 6));
  const path = (pick: 'available' | 'desired'): string => {
    const steps = points.map(
      (point, at) => `${at === 0 ? 'M' : 'H'}${x(point.seconds)}${at === 0 ? ' ' : 'V'}${y(point[pick])}`,
    );
    return `${steps.join('')}H${x(span)}`;
  };
  const red = violations.map(({ fromSeconds, toSeconds = span }) => {
    const from = x(fromSeconds);
    return `<rect class="violation" x="${from}" y="${top}" width="${Math.max(2, round(x(toSeconds) - from))}" height="${HIGH}"/>`;
  });
  const least = Math.min(...points.map(({ available }) => available));
  return [
    `<text class="name" x="16" y="${top + 22}">${escape(shorten(id))}</text>`,
    `<text x="16" y="${top + 40}">${unit}, least ${least}</text>`,
    ...red,
    `<path class="area" d="${path('available')}V${top + HIGH}H${x(0)}Z"/>`,
    `<path class="desired" d="${path('desired')}"/>`,
    `<path class="available" d="${path('available')}"/>`,
  ].join('\n');
}

const shorten = (text: string): string => (text.length > 28 ? `${text.slice(0, 27)}…` : text);
const round = (value: number): number => Math.round(value * 10) / 10;
const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

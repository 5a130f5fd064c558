import type { BudgetLine, SimulationResult } from '../../tasks/index.ts';
import { describeAction, formatSpan } from './text.ts';

const LEFT = 250;
const PLOT = 700;
const ROW = 92;
const HIGH = 56;
const TOP = 74;
const TICKS = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400, 604_800];
const MAX_TICKS = 8;

/** What was simulated, on what, and how it ended. */
export function titleOf(result: SimulationResult): string {
  const { actions, end, nodes, pods, seconds } = result;
  const what = actions.map(({ action }) => describeAction(action)).join('; ');
  const steps = stepsOf(result).length;
  const how = steps > 0 ? `, in ${steps} ${steps === 1 ? 'step' : 'steps'}` : '';
  const ending = end === 'Finished' ? '' : end === 'Stuck' ? ', and stuck then' : ', and not finished then';
  return `${what} (${nodes.toLocaleString('en')} nodes, ${pods.before.total.toLocaleString('en')} pods)${how}, ${formatSpan(seconds)}${ending}`;
}

/** When each step of a drain began. */
export function stepsOf({ events }: SimulationResult): { readonly step: number; readonly seconds: number }[] {
  return events.flatMap(({ seconds, text }) => {
    const step = /^step (\d+) of \d+/.exec(text)?.[1];
    return step === undefined ? [] : [{ step: Number(step), seconds }];
  });
}

interface Scale {
  readonly top: number;
  readonly x: (seconds: number) => number;
  readonly span: number;
}

/** The timeline as a picture: for each budget a step line of what is available, and what it asks for. */
export function drawSimulation(result: SimulationResult, source = ''): string {
  const { budgets, seconds } = result;
  const height = TOP + budgets.length * ROW + 40;
  const width = LEFT + PLOT + 40;
  const span = Math.max(seconds, 1);
  const x = (at: number): number => round(LEFT + (Math.min(at, span) / span) * PLOT);
  const every = TICKS.find((one) => span / one < MAX_TICKS) ?? span;
  const ticks = Array.from({ length: Math.floor(span / every) + 1 }, (_, at) => at * every).map(
    (at) =>
      `<line class="tick" x1="${x(at)}" y1="${TOP - 6}" x2="${x(at)}" y2="${height - 34}"/>` +
      `<text x="${x(at)}" y="${height - 16}" text-anchor="middle">${formatSpan(at)}</text>`,
  );
  const marks = stepsOf(result).map(
    ({ seconds: at, step }) =>
      `<line class="step" x1="${x(at)}" y1="${TOP - 4}" x2="${x(at)}" y2="${height - 34}"/>` +
      `<text class="step-name" x="${x(at)}" y="${TOP - 8}" text-anchor="middle">${step}</text>`,
  );
  const rows = budgets.map((budget, index) => drawRow(budget, { top: TOP + index * ROW, x, span }));
  const title = escapeText(titleOf(result));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d">
<title id="t">${title}</title>
<desc id="d">${escapeText(budgets.map(describeLine).join(' '))}</desc>
<style>
text{font:12px system-ui,sans-serif;fill:#334155}.title{font-size:15px;font-weight:600}.name{font-weight:600}
.tick{stroke:#e2e8f0}.available{fill:none;stroke:#1d4ed8;stroke-width:2}.area{fill:#1d4ed8;opacity:.12}
.desired{fill:none;stroke:#b45309;stroke-width:2;stroke-dasharray:5 4}.violation{fill:#b91c1c;opacity:.25}
.step{stroke:#475569;stroke-dasharray:1 3}.step-name{font-size:10px}.number{font-size:10px;text-anchor:end}
</style>
<rect width="${width}" height="${height}" fill="#fff"/>
<text class="title" x="16" y="24">${title}</text>
<text x="16" y="44">${escapeText(source)}</text>
<text x="${width - 40}" y="44" text-anchor="end">solid: available, dashed: wanted, red: below the budget, dotted: a step begins</text>
${[...ticks, ...marks, ...rows].join('\n')}
</svg>
`;
}

function describeLine({ id, points, unit, violations }: BudgetLine): string {
  const least = Math.min(...points.map(({ available }) => available));
  const below = violations.length === 0 ? 'never below the budget' : `below the budget ${violations.length} times`;
  return `${id}: at least ${least} ${unit} available, ${below}.`;
}

function drawRow({ id, points, unit, violations }: BudgetLine, { span, top, x }: Scale): string {
  const most = Math.max(1, ...points.flatMap(({ available, desired }) => [available, desired]));
  const y = (count: number): number => round(top + HIGH - (count / most) * (HIGH - 6));
  const path = (at: (point: BudgetLine['points'][number]) => number): string => {
    const steps = points.map(
      (point, index) => `${index === 0 ? 'M' : 'H'}${x(point.seconds)}${index === 0 ? ' ' : 'V'}${at(point)}`,
    );
    return `${steps.join('')}H${x(span)}`;
  };
  const available = path((point) => y(point.available));
  // Where both are equal the wanted line runs below the other, so that both are seen.
  const desired = path((point) => y(point.desired) + (point.available === point.desired ? 2 : 0));
  const red = violations.map(({ fromSeconds, toSeconds = span }) => {
    const from = x(fromSeconds);
    const wide = Math.max(2, round(x(toSeconds) - from));
    return (
      `<rect class="violation" x="${from}" y="${top}" width="${wide}" height="${HIGH}"/>` +
      `<text class="number" x="${from + wide}" y="${top + HIGH + 12}">${formatSpan(toSeconds - fromSeconds)}</text>`
    );
  });
  const numbers = [...new Set([0, Math.round(most / 2), most])].map(
    (count) => `<text class="number" x="${LEFT - 6}" y="${y(count) + 4}">${count}</text>`,
  );
  const least = Math.min(...points.map((point) => point.available));
  return [
    `<text class="name" x="16" y="${top + 22}">${escapeText(shorten(id))}</text>`,
    `<text x="16" y="${top + 40}">${unit}, least ${least}</text>`,
    ...numbers,
    ...red,
    `<path class="area" d="${available}V${top + HIGH}H${x(0)}Z"/>`,
    `<path class="desired" d="${desired}"/>`,
    `<path class="available" d="${available}"/>`,
  ].join('\n');
}

const shorten = (text: string): string => (text.length > 30 ? `${text.slice(0, 29)}…` : text);
const round = (value: number): number => Math.round(value * 10) / 10;

export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

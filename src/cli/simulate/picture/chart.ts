/** The timeline as shapes, before anybody draws them: for each budget what is available, and what it asks for. */
import type { BudgetLine, SimulationResult } from '../../../tasks/index.ts';
import { describeAction, formatSpan } from '../text.ts';
import type { Ink, Pen } from './canvas.ts';

const LEFT = 250;
const PLOT = 700;
const ROW = 92;
const HIGH = 56;
const TOP = 74;
const MARGIN = 16;
const LEGEND = 'solid: available, dashed: wanted, red: below the budget, dotted: a step begins';
/** What is left beside the legend. */
const SOURCE_ROOM = 440;
const TICKS = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400, 604_800];
const MAX_TICKS = 8;

export const TEXT_INK: Ink = { colour: '#334155' };
export const PENS = {
  tick: { colour: '#e2e8f0', width: 1 },
  step: { colour: '#475569', width: 1, dash: [1, 3] },
  available: { colour: '#1d4ed8', width: 2 },
  desired: { colour: '#b45309', width: 2, dash: [5, 4] },
} as const satisfies Record<string, Pen>;
export const FILLS = {
  area: { colour: '#1d4ed8', opacity: 0.12 },
  violation: { colour: '#b91c1c', opacity: 0.25 },
} as const satisfies Record<string, Ink>;

export type Shape =
  | {
      readonly kind: 'text';
      readonly role?: 'title' | 'name' | 'number' | 'step-name';
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly anchor?: 'middle' | 'end';
      /** How wide it may become; what draws letters of a known width cuts it there. */
      readonly room?: number;
    }
  | {
      readonly kind: 'mark';
      readonly role: 'tick' | 'step';
      readonly x: number;
      readonly top: number;
      readonly bottom: number;
    }
  | {
      readonly kind: 'box';
      readonly role: 'violation';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
    }
  /** A line of levels, each held until the next; with a floor, all below it down to there. */
  | {
      readonly kind: 'levels';
      readonly role: 'available' | 'desired' | 'area';
      readonly levels: readonly (readonly [x: number, y: number])[];
      readonly end: number;
      readonly floor?: number;
    };

export interface Chart {
  readonly width: number;
  readonly height: number;
  readonly title: string;
  /** In words, for those who do not see it. */
  readonly description: string;
  readonly shapes: readonly Shape[];
}

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

/** @param source what it was made from, under the title */
export function chartOf(result: SimulationResult, source: string): Chart {
  const { budgets, seconds } = result;
  const height = TOP + budgets.length * ROW + 40;
  const width = LEFT + PLOT + 40;
  const bottom = height - 34;
  const span = Math.max(seconds, 1);
  const x = (at: number): number => round(LEFT + (Math.min(at, span) / span) * PLOT);
  const every = TICKS.find((one) => span / one < MAX_TICKS) ?? span;
  const title = titleOf(result);
  const shapes: Shape[] = [
    { kind: 'text', role: 'title', x: MARGIN, y: 24, text: title, room: width - 2 * MARGIN },
    { kind: 'text', x: MARGIN, y: 44, text: source, room: SOURCE_ROOM },
    { kind: 'text', x: width - 40, y: 44, text: LEGEND, anchor: 'end' },
  ];
  for (let at = 0; at <= span; at += every) {
    shapes.push(
      { kind: 'mark', role: 'tick', x: x(at), top: TOP - 6, bottom },
      { kind: 'text', x: x(at), y: height - 16, text: formatSpan(at), anchor: 'middle' },
    );
  }
  for (const { seconds: at, step } of stepsOf(result)) {
    shapes.push(
      { kind: 'mark', role: 'step', x: x(at), top: TOP - 4, bottom },
      { kind: 'text', role: 'step-name', x: x(at), y: TOP - 8, text: String(step), anchor: 'middle' },
    );
  }
  for (const [index, budget] of budgets.entries()) shapes.push(...rowOf(budget, { top: TOP + index * ROW, x, span }));
  return { width, height, title, description: budgets.map(describeLine).join(' '), shapes };
}

function describeLine({ id, points, unit, violations }: BudgetLine): string {
  const least = Math.min(...points.map(({ available }) => available));
  const below = violations.length === 0 ? 'never below the budget' : `below the budget ${violations.length} times`;
  return `${id}: at least ${least} ${unit} available, ${below}.`;
}

function rowOf({ id, points, unit, violations }: BudgetLine, { span, top, x }: Scale): Shape[] {
  const most = Math.max(1, ...points.flatMap(({ available, desired }) => [available, desired]));
  const y = (count: number): number => round(top + HIGH - (count / most) * (HIGH - 6));
  const end = x(span);
  const available = points.map((point) => [x(point.seconds), y(point.available)] as const);
  // Where both are equal the wanted line runs below the other, so that both are seen.
  const desired = points.map(
    (point) => [x(point.seconds), y(point.desired) + (point.available === point.desired ? 2 : 0)] as const,
  );
  const least = Math.min(...points.map((point) => point.available));
  return [
    { kind: 'text', role: 'name', x: MARGIN, y: top + 22, text: shorten(id) },
    { kind: 'text', x: MARGIN, y: top + 40, text: `${unit}, least ${least}` },
    ...[...new Set([0, Math.round(most / 2), most])].map((count): Shape => {
      return { kind: 'text', role: 'number', x: LEFT - 6, y: y(count) + 4, text: String(count), anchor: 'end' };
    }),
    ...violations.flatMap(({ fromSeconds, toSeconds = span }): Shape[] => {
      const from = x(fromSeconds);
      const width = Math.max(2, round(x(toSeconds) - from));
      const length = formatSpan(toSeconds - fromSeconds);
      return [
        { kind: 'box', role: 'violation', x: from, y: top, width, height: HIGH },
        { kind: 'text', role: 'number', x: from + width, y: top + HIGH + 12, text: length, anchor: 'end' },
      ];
    }),
    { kind: 'levels', role: 'area', levels: available, end, floor: top + HIGH },
    { kind: 'levels', role: 'desired', levels: desired, end },
    { kind: 'levels', role: 'available', levels: available, end },
  ];
}

const shorten = (text: string): string => (text.length > 30 ? `${text.slice(0, 29)}…` : text);
const round = (value: number): number => Math.round(value * 10) / 10;

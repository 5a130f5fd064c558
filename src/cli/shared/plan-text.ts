import { type PlanTime, TIME_SOURCES, type TimeSource } from '../../decisions/drain-plan/index.ts';
import type { PlannedDrain } from '../../tasks/index.ts';
import { WIDTH, count, table } from './terminal.ts';

const BLOCKED_TEXT = {
  BudgetAllowsNone: 'its budget allows no disruption',
  BudgetBroken: 'its budget is broken already',
  OverlappingBudgets: 'several PodDisruptionBudgets select its pods',
  NoRoom: 'there is no room for it elsewhere',
  CannotTell: 'whether there is room for it cannot be told',
} as const;

const NAMES_SHOWN = 4;

/** The plan for a person: steps, what stands in the way, and what it saves. */
export function formatPlan({ leftForLast, naive, nodes, plan, statements }: PlannedDrain): string {
  const none = plan.steps.length === 0;
  const notes: string[] = [];
  const lines = none
    ? [`Nothing of ${count(nodes.length, 'node')} can be drained now.`]
    : [`Draining ${count(nodes.length, 'node')} in ${count(plan.steps.length, 'step')}:`, ''];
  if (!none) lines.push(...stepTable(plan.steps), ...tellExchanges(plan.steps));
  if (plan.blocked.length > 0) {
    lines.push('', `Cannot be drained now (${plan.blocked.length}):`);
    for (const { budgets, nodes: at, reason, text, unit } of plan.blocked) {
      const which = budgets.length > 0 ? ` (${budgets.join(', ')})` : '';
      lines.push(`  ${unit} on ${at.join(', ')}: ${text ?? BLOCKED_TEXT[reason]}${which}`);
    }
  }
  for (const { flag, kind, pods, text } of statements ?? []) {
    const which = pods.length > 0 ? ` (${some(pods)})` : '';
    notes.push(`  ${kind}: ${text}${which}${flag === undefined ? '' : `; drain wants ${flag}`}`);
  }
  if (notes.length > 0) lines.push('', 'Also:', ...notes);
  const again =
    plan.hitAgain > 0 ? `, ${plan.hitAgain} of them more than once for want of room` : ', none of them twice';
  if (none) return `${lines.join('\n')}\n`;
  lines.push(
    '',
    `${count(plan.disruptions, 'disruption')}${plan.disruptions > 1 || plan.hitAgain > 0 ? again : ''}; no plan has fewer than ${plan.lowerBound}.`,
  );
  if (plan.time !== undefined) lines.push(`It takes ${tellTime(plan.time)}.`, ...tellSources(plan.time));
  if (nodes.length > 1) {
    const again = naive.hitAgain > 0 ? `, with ${count(naive.hitAgain, 'group')} disrupted more than once` : '';
    lines.push(`Draining node after node would cause ${count(naive.disruptions, 'disruption')}${again}.`);
  }
  if (leftForLast !== undefined) lines.push('', ...tellLast(leftForLast));
  return `${lines.join('\n')}\n`;
}

function tellExchanges(steps: PlannedDrain['plan']['steps']): string[] {
  const which = steps.flatMap(({ exchange }, at) => (exchange === true ? [at + 1] : []));
  return which.flatMap((step) => [
    '',
    `Step ${step} is an exchange: its groups go into the room that they leave each other.`,
    'Between the two anybody may take it.',
  ]);
}

/** The time a plan takes, for a person. */
export function tellTime({ from, seconds, to, unknown }: PlanTime): string {
  if (unknown.length > 0) {
    const groups = unknown.length === 1 ? "1 group's start-up time is" : `${unknown.length} groups' start-up times are`;
    return `at least ${span(seconds)}; ${groups} not known`;
  }
  if (from === undefined || to === undefined || span(from) === span(to)) return `about ${span(seconds)}`;
  return `about ${span(seconds)} (${span(from)} to ${span(to)})`;
}

const SOURCE_TEXT: Readonly<Record<TimeSource, string>> = {
  Told: 'as told',
  Recorded: 'by the record',
  Started: 'by their last start',
  Assumed: 'as told for all',
};

/** From where it is known how long groups take to serve again. */
function tellSources({ by = {} }: PlanTime): string[] {
  const known = TIME_SOURCES.flatMap((source) =>
    by[source] === undefined ? [] : `${by[source]} ${SOURCE_TEXT[source]}`,
  );
  return known.length === 0 ? [] : [`Known of what goes down, until it serves again: ${known.join(', ')}.`];
}

function span(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${Math.round((seconds / 3600) * 10) / 10} h`;
}

/** What to do about the node that the others move to. */
export function tellLast(node: string): string[] {
  return [
    `${node} is left for last: with every node cordoned there would be none to move to.`,
    `When the others are back: quorate plan drain ${node}`,
  ];
}

/** As many names to a cell as leave the table within the width of a terminal. */
function stepTable(steps: PlannedDrain['plan']['steps']): string[] {
  const tableWith = (shown: number): string[] =>
    table([
      ['STEP', 'PODS', 'GOES DOWN', 'EMPTY AFTERWARDS'],
      ...steps.map(({ completes, evictions }, at) => [
        String(at + 1),
        String(evictions.reduce((sum, { pods }) => sum + pods.length, 0)),
        some(
          evictions.filter(({ disrupts }) => disrupts).map(({ unit }) => unit),
          shown,
        ),
        some(completes, shown),
      ]),
    ]);
  for (let shown = NAMES_SHOWN; shown > 1; shown -= 1) {
    const lines = tableWith(shown);
    if (lines.every((line) => line.length <= WIDTH)) return lines;
  }
  return tableWith(1);
}

/** The plan as a Mermaid flow chart. */
export function formatPlanMermaid({ plan }: PlannedDrain): string {
  const lines = ['flowchart LR'];
  for (const [at, { completes, evictions, exchange }] of plan.steps.entries()) {
    const down = evictions.filter(({ disrupts }) => disrupts).map(({ unit }) => unit);
    const label = [
      `step ${at + 1}${exchange === true ? ', exchange' : ''}`,
      `down: ${some(down)}`,
      `empty: ${some(completes)}`,
    ].join('<br/>');
    lines.push(`  s${at + 1}["${label.replaceAll('"', "'")}"]`);
    if (at > 0) lines.push(`  s${at} --> s${at + 1}`);
  }
  return `${lines.join('\n')}\n`;
}

function some(names: readonly string[], limit = NAMES_SHOWN): string {
  if (names.length === 0) return '-';
  const shown = names.slice(0, limit).join(', ');
  return names.length > limit ? `${shown} and ${names.length - limit} more` : shown;
}

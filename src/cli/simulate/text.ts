import type { Action, BudgetLine, SimulationResult } from '../../tasks/index.ts';

const WIDTH = 48;
const LEVELS = '▁▂▃▄▅▆▇█';
const NAMES_SHOWN = 6;

export function formatSpan(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ] as const;
  return (
    parts
      .filter(([count]) => count > 0)
      .map(([count, unit]) => `${count}${unit}`)
      .join('') || '0s'
  );
}

/** The story for a person: what was done, each budget over time, and what it cost. */
export function formatSimulation(result: SimulationResult): string[] {
  const lines = result.actions.flatMap(({ action, endSeconds, outcome, waits = [] }) => [
    `${describeAction(action)}: ${outcome} after ${formatSpan(endSeconds)}`,
    ...waits.slice(0, NAMES_SHOWN).map((one) => `  ${one.unit} waits: ${one.for}`),
    ...(waits.length > NAMES_SHOWN ? [`  and ${waits.length - NAMES_SHOWN} more`] : []),
  ]);
  lines.push('', `Available over ${formatSpan(result.seconds)} (! is below the budget):`, '');
  const name = Math.max(6, ...result.budgets.map(({ id }) => id.length));
  for (const budget of result.budgets) {
    const { available, desired } = worstOf(budget);
    lines.push(`  ${budget.id.padEnd(name)} ${drawLine(budget, result.seconds)}`);
    lines.push(`  ${' '.repeat(name)} at the lowest ${available} ${budget.unit} available, ${desired} needed`);
  }
  const violations = result.budgets.flatMap(({ id, unit, violations: own }) =>
    own.map((one) => ({ id, unit, ...one })),
  );
  lines.push('', violations.length === 0 ? 'No budget was broken.' : `Below a budget (${violations.length}):`);
  for (const { fromSeconds, id, involuntary, missing, toSeconds, unit } of violations) {
    const until = toSeconds === undefined ? 'the end' : formatSpan(toSeconds);
    const why = involuntary === true ? ', because a node was lost' : '';
    lines.push(`  ${id} from ${formatSpan(fromSeconds)} to ${until}: ${missing} ${unit} short${why}`);
  }
  const { countedTwice, disruptedAgain, disruptedOnce, pods, problems, seconds, settled } = result;
  lines.push(
    `Time taken: ${formatSpan(seconds)}${settled ? '' : ', and not finished then'}.`,
    `Groups down once: ${disruptedOnce.length}${some(disruptedOnce)}.`,
    `Groups down more than once: ${disruptedAgain.length}${some(disruptedAgain.map(({ group, times }) => `${group} ×${times}`))}.`,
    `Pods ready: ${pods.before.ready} of ${pods.before.total} before, ${pods.after.ready} of ${pods.after.total} after.`,
  );
  if (countedTwice.length > 0)
    lines.push(
      '',
      `Kubernetes counts the pods of ${countedTwice.length} budgets as well${some(countedTwice)}: an eviction needed room in both counts.`,
    );
  if (problems.length > 0)
    lines.push('', 'Not loaded from the snapshot:', ...problems.slice(0, 10).map((one) => `  ${one}`));
  return lines;
}

export function describeAction(action: Action): string {
  switch (action.kind) {
    case 'drain':
      return `Drain of ${action.nodes.join(', ')}`;
    case 'upgrade':
      return 'Upgrade of every node';
    case 'scale':
      return `${action.workload} to ${action.replicas} replicas`;
    case 'rollout':
      return `New template for ${action.workload}`;
    case 'fail':
      return `Failure of ${action.nodes.join(', ')}`;
    case 'replace':
      return `Replacement of ${action.nodes.join(', ')}`;
    case 'spot':
      return `Loss of ${action.node} with ${formatSpan(Math.round(action.noticeMs / 1000))} of notice`;
    case 'wait':
      return `Waiting for ${formatSpan(Math.round(action.ms / 1000))}`;
  }
}

function some(names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  return ` (${names.slice(0, NAMES_SHOWN).join(', ')}${more})`;
}

function worstOf({ points }: BudgetLine): { available: number; desired: number } {
  return points.reduce(
    (worst, { available, desired }) =>
      available - desired < worst.available - worst.desired ? { available, desired } : worst,
    points[0] ?? { available: 0, desired: 0 },
  );
}

/** One character for each slice of time, showing the least that was available in it. */
function drawLine({ points }: BudgetLine, seconds: number): string {
  const most = Math.max(1, ...points.map(({ available }) => available));
  const slice = Math.max(seconds, 1) / WIDTH;
  return Array.from({ length: WIDTH }, (_, at) => {
    const inSlice = points.filter((point) => point.seconds >= at * slice && point.seconds < (at + 1) * slice);
    const before = points.filter((point) => point.seconds < at * slice).at(-1);
    const shown = [...(before === undefined ? [] : [before]), ...inSlice];
    if (shown.length === 0) return ' ';
    if (shown.some(({ available, desired }) => available < desired)) return '!';
    const least = Math.min(...shown.map(({ available }) => available));
    return LEVELS[Math.round((least / most) * (LEVELS.length - 1))] ?? ' ';
  }).join('');
}

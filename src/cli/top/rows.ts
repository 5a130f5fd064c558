/** What `quorate top` tells of a fleet: rows for the screen, and facts whose change is worth a line. */
import {
  blocked,
  budgetViews,
  byName,
  type Fleet,
  MARK_WORDS,
  MARKS,
  type RunningDrain,
  runningDrains,
  type ShownBudget,
  type ShownGroup,
} from '../../fleet/index.ts';
import { count } from '../shared/terminal.ts';

export interface TopRows {
  /** The one that keeps the most pods from going stands first. */
  readonly budgets: readonly ShownBudget[];
  /** Groups that are not as they should be stand first. */
  readonly groups: readonly ShownGroup[];
  readonly drains: readonly RunningDrain[];
  /** Cordoned nodes with nothing left to move. */
  readonly drained: readonly string[];
  /** Kinds that may not be read, or only in some namespaces. */
  readonly unread: readonly string[];
}

export function topRows(fleet: Fleet, { namespace, now }: { namespace?: string | undefined; now: number }): TopRows {
  const isShown = (place: string): boolean => namespace === undefined || place === namespace;
  const order = (group: ShownGroup): number => MARKS.indexOf(group.mark);
  const { drains, empty } = runningDrains(fleet, now);
  return {
    budgets: budgetViews(fleet, now).filter((one) => one.pods > 0 && isShown(one.namespace)),
    groups: [...fleet.groups.all().values()]
      .filter((group) => !group.single && isShown(group.namespace))
      .sort((a, b) => order(a) - order(b) || byName(a.id, b.id)),
    drains,
    drained: empty,
    unread: [...fleet.known.values()]
      .filter(({ how }) => how === 'Forbidden' || how === 'Partly')
      .map((one) => one.known),
  };
}

export const budgetCells = (one: ShownBudget): string[] => [
  `${one.namespace}/${one.kind}/${one.name}`,
  one.counts === 'PodGroup' ? 'groups' : 'pods',
  `${one.healthy}/${one.expected}`,
  String(one.desired),
  String(one.allowed),
  String(one.granted),
  blocked(one) > 0 ? `holds back ${count(one.pods, 'pod')}` : '',
];

export const groupCells = ({ healthy, id, mark, needed, nodes }: ShownGroup): string[] => [
  id,
  String(healthy),
  String(needed),
  String([...nodes.keys()].filter((node) => node !== '').length),
  MARK_WORDS[mark].label.toLowerCase(),
];

export const drainCells = ({ going, joint, left, node }: RunningDrain): string[] => [
  node,
  String(left.length),
  String(going),
  left.length === 0 ? 'the last pods are going' : joint.allowed ? 'all may go' : `waits for ${whatHolds(joint)}`,
];

/** The budgets and groups that hold a drain up. */
function whatHolds({ pods, refusals }: RunningDrain['joint']): string {
  const names = new Set(refusals.flatMap(({ budgets }) => budgets.map(({ name }) => `budget ${name}`)));
  if (names.size > 0) return [...names].slice(0, 3).join(', ');
  return pods.find(({ allowed }) => !allowed)?.reason ?? 'a budget';
}

/** Every row by its name, as one line; two of these tell what has changed. */
export function facts({ budgets, drained, drains, groups }: TopRows): Map<string, string> {
  const said = new Map<string, string>();
  for (const one of budgets) {
    const state = `${one.healthy} of ${one.expected} healthy, ${one.desired} needed, ${one.allowed} may go`;
    said.set(`budget ${one.namespace}/${one.kind}/${one.name}`, state);
  }
  for (const { healthy, id, mark, needed } of groups) {
    said.set(`group ${id}`, `${MARK_WORDS[mark].label.toLowerCase()}, ${healthy} healthy, ${needed} needed`);
  }
  for (const drain of drains) {
    const [node = '', left = '', going = '', state = ''] = drainCells(drain);
    said.set(`drain ${node}`, `${left} left, ${going} going, ${state}`);
  }
  for (const node of drained) said.set(`drain ${node}`, 'nothing left to move');
  return said;
}

/** Lines for what is new, different or gone. */
export function changes(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const lines: string[] = [];
  for (const [name, state] of after) if (before.get(name) !== state) lines.push(`${name}: ${state}`);
  for (const name of before.keys()) if (!after.has(name)) lines.push(`${name}: gone`);
  return lines;
}

/** What a change says of itself before it is made: which groups go down, by the same plan that is shown. */
import type { Maintenance } from '../../api/quorate/maintenance.ts';
import { byName, type Fleet, makePlan } from '../../fleet/index.ts';
import type { PageChange } from './confirm.tsx';
import { cordon, pause, startDrain } from './requests.ts';

const MOST_NODES = 8;
const MOST_KEPT = 5;

const counted = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

function listed(names: readonly string[], most: number): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

export function cordonChange(nodes: readonly string[], on: boolean): PageChange {
  const verb = on ? 'Cordon' : 'Uncordon';
  const names = listed(nodes, MOST_NODES);
  const says = on ? `No new pod is placed on ${names}.` : `New pods may be placed on ${names} again.`;
  return {
    title: `${verb} ${counted(nodes.length, 'node')}?`,
    says: [says, 'No pod and no group goes down.'],
    down: [],
    verb: `${verb} ${counted(nodes.length, 'node')}`,
    act: () => cordon(nodes, on),
  };
}

/** Planned anew: what was shown may be minutes old. */
export function drainChange(
  fleet: Fleet,
  { nodes, nodesReturn }: { nodes: readonly string[]; nodesReturn: boolean },
  now: number,
): PageChange {
  const { plan } = makePlan(fleet, { nodes: new Set(nodes), nodesReturn }, now);
  const evictions = plan.steps.flatMap((step) => step.evictions);
  const down = [...new Set(evictions.filter(({ disrupts }) => disrupts).map(({ unit }) => unit))].sort(byName);
  const pods = evictions.reduce((sum, one) => sum + one.pods.length, 0);
  const kept = plan.blocked.map(({ unit }) => unit);
  const stays = `${counted(kept.length, 'group')} cannot move now, so nothing starts until that changes: ${listed(kept, MOST_KEPT)}.`;
  return {
    title: `Drain ${counted(nodes.length, 'node')}?`,
    says: [
      `${listed(nodes, MOST_NODES)}: evicts ${counted(pods, 'pod')} in ${counted(plan.steps.length, 'step')}, within every budget. It goes on when this page is closed.`,
      ...(kept.length > 0 ? [stays] : []),
      down.length === 0 ? 'No group goes down.' : `${counted(down.length, 'group')} would go down:`,
    ],
    down,
    verb: `Drain ${counted(nodes.length, 'node')}`,
    act: () => startDrain(nodes, nodesReturn),
  };
}

export function pauseChange({ metadata, spec, status }: Maintenance): PageChange {
  const { name = '' } = metadata;
  const isPaused = spec?.paused === true;
  const { downTotal = 0, planned = 0 } = status?.groups ?? {};
  const ahead = Math.max(0, planned - downTotal);
  const reached = status?.step?.number ?? 0;
  const steps = status?.plan?.steps ?? [];
  const coming = steps.slice(Math.max(0, reached - (status?.plan?.stepsBefore ?? 0)));
  const down = coming.flatMap(({ evictions }) => evictions.filter((one) => one.disrupts).map((one) => one.group));
  return isPaused
    ? {
        title: `Resume ${name}?`,
        says: [ahead === 0 ? 'No more group goes down.' : `${counted(ahead, 'more group')} would go down:`],
        down: [...new Set(down)].sort(byName),
        verb: `Resume ${name}`,
        act: () => pause(name, false),
      }
    : {
        title: `Pause ${name}?`,
        says: ['The step under way ends, and no further one starts. Nodes stay cordoned. No more group goes down.'],
        down: [],
        verb: `Pause ${name}`,
        act: () => pause(name, true),
      };
}

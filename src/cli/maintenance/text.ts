import type { Maintenance, MaintenanceBlocker, MaintenanceStep, PlannedStep } from '../../api/quorate/maintenance.ts';
import { QUORATE_GROUP } from '../../api/quorate/types.ts';
import { formatAge, parseTime } from '../../machinery/values/index.ts';
import type { Listing } from '../shared/output.ts';
import { count, table } from '../shared/terminal.ts';

const HEAD = ['NAME', 'PHASE', 'STEP', 'NODES', 'DOWN', 'GROUPS', 'WAITS FOR', 'ENDS', 'AGE'];

/** As kubectl names and takes it. */
export const nameForKubectl = ({ metadata }: Maintenance): string =>
  `maintenance.${QUORATE_GROUP}/${metadata.name ?? ''}`;

export function listMaintenances(all: readonly Maintenance[], now: number): Listing {
  const rows = all.map(({ metadata, status }) => [
    metadata.name ?? '',
    status?.phase ?? 'Pending',
    status?.summary?.step ?? '-',
    status?.summary?.nodes ?? '-',
    String(status?.groups?.downNow ?? 0),
    status?.summary?.groups ?? '-',
    status?.summary?.waitsFor ?? '-',
    status?.expectedEnd ?? '-',
    formatAge(now - (parseTime(metadata.creationTimestamp) ?? now)),
  ]);
  const purposes = all.map(({ spec }) => [spec?.reason || '-']);
  const none = ['No maintenances. quorate drain NODE --detach makes one.'];
  const draw = (head: string[], cells: string[][]): string[] =>
    all.length === 0 ? none : table([head, ...cells], '  ');
  return {
    text: draw(HEAD, rows),
    wide: draw(
      [...HEAD, 'WHAT FOR'],
      rows.map((row, at) => [...row, ...(purposes[at] ?? [])]),
    ),
    names: all.map(nameForKubectl),
  };
}

/** One line: where it is now. */
export function tellMaintenance({ status }: Maintenance): string {
  const { groups, phase = 'Pending', step, summary } = status ?? {};
  const parts = [
    phase,
    ...(step === undefined ? [] : [`step ${step.number} of ${step.of}`]),
    ...(step?.activity === undefined ? [] : [step.activity]),
    ...(summary?.nodes === undefined ? [] : [`nodes drained ${summary.nodes}`]),
    ...(groups === undefined ? [] : [`outages ${groups.downTotal} of ${groups.planned} planned`]),
    ...(summary?.waitsFor === undefined ? [] : [`waits for ${summary.waitsFor}`]),
  ];
  return parts.join(', ');
}

export function describeMaintenance(maintenance: Maintenance, now: number): string[] {
  const { metadata, spec, status } = maintenance;
  const { blockers = [], conditions = [], expectedEnd, nodes = [], plan, step } = status ?? {};
  const failed = conditions.find((one) => one.type === 'Failed' && one.status === 'True');
  return [
    `${metadata.name ?? ''}: ${tellMaintenance(maintenance)}`,
    ...(spec?.reason ? [`Reason: ${spec.reason}`] : []),
    ...(failed === undefined ? [] : [`Failed: ${failed.reason}: ${failed.message}`]),
    ...(expectedEnd === undefined ? [] : [`Expected to end at ${expectedEnd}.`]),
    '',
    'Nodes:',
    ...nodes.map(({ name, since, state }) => `  ${name}: ${state} for ${formatAge(now - (parseTime(since) ?? now))}`),
    ...(plan === undefined
      ? []
      : [
          '',
          `Plan ${plan.number}: ${count(plan.steps.length, 'step')}, ${count(plan.disruptions, 'outage')}, made at ${plan.madeAt}.`,
        ]),
    ...(plan?.steps ?? []).map((one, at) => describeStep(one, (plan?.stepsBefore ?? 0) + at + 1, step)),
    ...blockers.flatMap((blocker) => ['', ...describeBlocker(blocker, now)]),
  ];
}

function describeStep(
  { completes = [], evictions }: PlannedStep,
  number: number,
  current: MaintenanceStep | undefined,
): string {
  const { doneAt, number: reached = 0 } = current ?? {};
  const isDone = number < reached || (number === reached && doneAt !== undefined);
  const mark = isDone ? 'done' : number === reached ? 'now ' : '    ';
  const groups = evictions.map(({ disrupts, group }) => (disrupts ? group : `${group} (stays up)`)).join(', ');
  const empties = completes.length === 0 ? '' : `; empties ${completes.join(', ')}`;
  return `  ${mark} ${number}. ${groups}${empties}`;
}

function describeBlocker(
  { group, kind, message, name = '', namespace, podsTotal, reason, remedies = [], since }: MaintenanceBlocker,
  now: number,
): string[] {
  const where = namespace === undefined ? name : `${namespace}/${name}`;
  const what =
    group === undefined ? '' : `, group ${group}${podsTotal === undefined ? '' : ` (${count(podsTotal, 'pod')})`}`;
  const age = formatAge(now - (parseTime(since) ?? now));
  return [
    `In the way for ${age}: ${kind} ${where} (${reason})${what}: ${message}.`,
    ...remedies.map((remedy) => `  - ${remedy}`),
  ];
}

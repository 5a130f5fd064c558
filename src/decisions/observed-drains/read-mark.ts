import type { Node } from '../../api/generated/core-v1.ts';
import { CLAIM_ANNOTATION, type DrainSource } from '../../api/quorate/maintenance.ts';
import type { KubeObject } from '../../api/resource.ts';
import { formatTime, parseDurationMs, parseTime } from '../../machinery/values/index.ts';
import { DRAIN_MARKERS, KURED_LOCK, type MarkerRow, type MarkMeaning, type Sign } from './markers.ts';

/** What other objects say about a node; `Unread` where they may not be read. */
export interface MarkContext {
  readonly nodeClaim?: KubeObject | 'Unread' | undefined;
  readonly machine?: KubeObject | 'Unread' | undefined;
  /** Name of the node that kured is at work on. */
  readonly kuredNode?: string | undefined;
  /** A NodeMaintenance names the node. */
  readonly isMaintained?: boolean | undefined;
  /** When the mark was first seen; now, if it is new. */
  readonly seenAt: number;
  readonly markers?: readonly MarkerRow[] | undefined;
}

export interface DrainMark {
  readonly means: MarkMeaning;
  readonly source: DrainSource;
}

/** What a node is marked for by others; the most pressing mark, or none. */
export function readMark(node: Node, context: MarkContext): DrainMark | undefined {
  for (const row of context.markers ?? DRAIN_MARKERS) {
    const marker = findSign(node, row.sign, context);
    if (marker === undefined) continue;
    const { at, isUnknown = false } = findDeadline(node, row, context);
    const source: DrainSource = {
      driver: row.driver,
      marker,
      ...(at !== undefined && { deadline: formatTime(at) }),
      ...(isUnknown && { deadlineUnknown: true }),
      ...(row.ignoresBudgets && (at !== undefined || isUnknown) && { ignoresBudgets: true }),
      ...(row.means === 'Planned' && { planned: true }),
    };
    return { means: row.means, source };
  }
  return undefined;
}

/** What was found, in words; undefined where it is not there. */
function findSign(node: Node, sign: Sign, context: MarkContext): string | undefined {
  const { metadata, spec, status } = node;
  if ('taint' in sign) {
    const found = spec?.taints?.some(
      ({ key, value }) => key === sign.taint && (sign.value === undefined || value === sign.value),
    );
    return found === true ? `taint ${sign.taint}` : undefined;
  }
  if ('label' in sign) {
    const value = metadata.labels?.[sign.label];
    const fits = value !== undefined && (sign.value === undefined || value === sign.value);
    return fits ? `label ${sign.label}` : undefined;
  }
  if ('annotation' in sign) {
    const value = metadata.annotations?.[sign.annotation];
    if (value === undefined) return undefined;
    const fits =
      !('begins' in sign) || (value.startsWith(sign.begins) && value !== metadata.annotations?.[sign.unlike]);
    return fits ? `annotation ${sign.annotation}` : undefined;
  }
  if ('condition' in sign) {
    const isOurs = metadata.annotations?.[CLAIM_ANNOTATION] !== undefined;
    const isTrue = status?.conditions?.some(({ status: is, type }) => type === sign.condition && is === 'True');
    return isTrue === true && !isOurs ? `condition ${sign.condition}` : undefined;
  }
  if ('finalizer' in sign) {
    const held = metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(sign.finalizer) === true;
    return held ? `finalizer ${sign.finalizer}` : undefined;
  }
  return findElsewhere(node, sign.elsewhere, context);
}

function findElsewhere(
  { metadata, spec }: Node,
  elsewhere: Extract<Sign, { elsewhere: string }>['elsewhere'],
  { isMaintained, kuredNode, machine }: MarkContext,
): string | undefined {
  if (elsewhere === 'KuredLock') {
    return kuredNode === metadata.name && spec?.unschedulable === true ? `annotation ${KURED_LOCK}` : undefined;
  }
  if (elsewhere === 'NodeMaintenance') return isMaintained === true ? 'a NodeMaintenance' : undefined;
  if (machine === undefined || machine === 'Unread' || machine.metadata.deletionTimestamp === undefined)
    return undefined;
  const annotations = Object.keys(machine.metadata.annotations ?? {});
  const isHeld = annotations.some((key) => key.startsWith('pre-drain.delete.hook.machine.cluster.x-k8s.io'));
  return isHeld ? undefined : `Machine ${machine.metadata.name ?? ''} is being deleted`;
}

interface Found {
  readonly at?: number | undefined;
  readonly isUnknown?: boolean;
}

function findDeadline(node: Node, { deadline, sign }: MarkerRow, context: MarkContext): Found {
  if (deadline === 'None') return {};
  if (deadline === 'Now') return { at: context.seenAt };
  if (deadline === 'NodeClaim') return ofNodeClaim(context.nodeClaim);
  if (deadline === 'Machine') return ofMachine(context.machine, context.seenAt);
  if (deadline === 'LabelValue') {
    const seconds = Number('label' in sign ? node.metadata.labels?.[sign.label] : undefined);
    return Number.isFinite(seconds) ? { at: seconds * 1000 } : { isUnknown: true };
  }
  if ('afterSeenMs' in deadline) return { at: context.seenAt + deadline.afterSeenMs };
  const taint = node.spec?.taints?.find(({ key }) => 'taint' in sign && key === sign.taint);
  return { at: (parseTime(taint?.timeAdded) ?? context.seenAt) + deadline.afterTaintMs };
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (object: KubeObject, part: 'spec' | 'status'): Fields =>
  (object as KubeObject & Partial<Record<typeof part, Fields>>)[part] ?? {};

const textIn = (fields: Fields, name: string): string => {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
};

/** When Karpenter stops to respect budgets: without a grace period it never does. */
function ofNodeClaim(claim: MarkContext['nodeClaim']): Found {
  if (claim === undefined) return {};
  if (claim === 'Unread') return { isUnknown: true };
  const told = parseTime(claim.metadata.annotations?.['karpenter.sh/nodeclaim-termination-timestamp']);
  if (told !== undefined) return { at: told };
  const grace = parseDurationMs(textIn(fieldsOf(claim, 'spec'), 'terminationGracePeriod'));
  const deleted = parseTime(claim.metadata.deletionTimestamp);
  return grace === undefined || deleted === undefined ? {} : { at: deleted + grace };
}

/** When Cluster API stops to drain; 0 means never. */
function ofMachine(machine: MarkContext['machine'], now: number): Found {
  if (machine === undefined) return {};
  if (machine === 'Unread') return { isUnknown: true };
  if (machine.metadata.annotations?.['machine.cluster.x-k8s.io/exclude-node-draining'] !== undefined)
    return { at: now };
  const spec = fieldsOf(machine, 'spec');
  const deletion = fieldsOf(machine, 'status')['deletion'] as Fields | undefined;
  const newer = (spec['deletion'] as Fields | undefined)?.['nodeDrainTimeoutSeconds'];
  const limit = typeof newer === 'number' ? newer * 1000 : (parseDurationMs(textIn(spec, 'nodeDrainTimeout')) ?? 0);
  const begun = parseTime(deletion?.['nodeDrainStartTime'] as string | undefined);
  return limit === 0 || begun === undefined ? {} : { at: begun + limit };
}

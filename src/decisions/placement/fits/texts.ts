import type { Constraint } from '../filters/constraint.ts';
import type { Answer, Binding, NearMiss, UnknownReason } from './model.ts';

const MAX_LENGTH = 160;

/** Why a unit has no place, in one line; empty for a yes. */
export function tellAnswer(answer: Answer): string {
  if (answer.fits === 'Yes') return '';
  const text = answer.fits === 'No' ? `NoRoom: ${tellNo(answer)}` : `CannotTell: ${tellUnknown(answer.because)}`;
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text;
}

export function tellUnknown(because: UnknownReason): string {
  switch (because.reason) {
    case 'NotChecked':
      return `not checked: ${NOT_CHECKED[because.what] ?? because.what}`;
    case 'NotReadable':
      return `may not read ${because.what}`;
    case 'BadInput':
      return because.what;
    case 'SearchLimit':
      return 'search limit';
    case 'DependsOnOrder':
      return 'depends on the order in which the scheduler takes the pods';
  }
}

const NOT_CHECKED: Readonly<Record<string, string>> = {
  DeviceSelector: 'device selector',
  DeviceAttribute: 'device selector: some devices lack an attribute it names',
  Constraints: 'constraints between devices of a claim',
  FirstAvailable: 'a claim that takes the first available of several requests',
  IncompletePool: 'a device pool of which not all slices are there',
  Capacity: 'a claim that asks for a share of a device',
};

const SIZES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** `8 × nvidia.com/gpu`, `2.5 cpu`, `96Gi memory`, `4 pods`. */
export function formatAmount(resource: string, amount: number): string {
  if (resource === 'cpu') return `${trim(amount / 1000)} cpu`;
  if (resource === 'pods') return `${amount} ${amount === 1 ? 'pod' : 'pods'}`;
  if (resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')) {
    return `${formatBytes(amount)} ${resource}`;
  }
  return `${amount} × ${resource}`;
}

const trim = (value: number): string => String(Math.round(value * 1000) / 1000);

/** In the largest binary unit that leaves at most one decimal. */
function formatBytes(bytes: number): string {
  for (let at = SIZES.length - 1; at > 0; at -= 1) {
    const value = bytes / 1024 ** at;
    if (value >= 1 && Number.isInteger(value * 10)) return `${value}${SIZES[at]}`;
  }
  return String(bytes);
}

/** Only the number where the resource was named just before. */
const bare = (resource: string, amount: number): string =>
  resource === 'cpu'
    ? `${trim(amount / 1000)} cpu`
    : resource === 'pods' || !formatAmount(resource, 1).startsWith('1 ×')
      ? formatAmount(resource, amount)
      : String(amount);

/** `topology.kubernetes.io/zone` is called zone. */
const shortKey = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

const nameOnly = (pod: string): string => pod.slice(pod.indexOf('/') + 1);

function tellNo({ binding, nearMiss }: { binding: Binding; nearMiss: NearMiss }): string {
  const { constraint } = binding;
  if (constraint.filter === 'Topology') return tellTopology(constraint, binding, nearMiss);
  if (constraint.filter === 'NodeResourcesFit') return tellShort(constraint, binding, nearMiss);
  return tellOther(constraint, binding, nearMiss);
}

type Of<F extends Constraint['filter']> = Extract<Constraint, { filter: F }>;

function tellTopology(constraint: Of<'Topology'>, binding: Binding, nearMiss: NearMiss): string {
  const key = shortKey(constraint.key);
  switch (constraint.cause) {
    case 'NoLabel':
      return `no node has the label ${constraint.key}`;
    case 'DomainUnlabelled':
      return `a member stands on a node without the label ${constraint.key}`;
    case 'DomainSplit': {
      const values = nearMiss.domains ?? [];
      return `its members stand in ${values.length} ${key}s (${values.join(', ')})`;
    }
    case 'DomainTooSmall': {
      const [own] = nearMiss.missing;
      const where = Object.values(nearMiss.domain?.labels ?? {}).join('/');
      const { total } = binding;
      if (own?.filter !== 'NodeResourcesFit' || total === undefined) {
        const inside = own === undefined ? '' : `; ${tellOther(own, binding, nearMiss)}`;
        return `${nearMiss.of} pods in one ${key}; the best ${key} takes ${nearMiss.placed} (${where})${inside}`;
      }
      const { resource } = own;
      const free = `the best ${key} has ${bare(resource, total.free)} free`;
      if (total.free >= total.asked && total.each !== undefined) {
        const need = `${total.pods} pods of ${formatAmount(resource, total.each)}`;
        return `${need} in one ${key}; ${free}, at most ${bare(resource, total.most)} on a node (${where})`;
      }
      return `${formatAmount(resource, total.asked)} in one ${key}; ${free} (${where})`;
    }
  }
}

function tellShort(
  { asked, free, resource }: Of<'NodeResourcesFit'>,
  { total }: Binding,
  { node, of, placed }: NearMiss,
): string {
  if (total !== undefined && !total.exists) {
    return `${formatAmount(resource, total.asked)}; no node that stays has any`;
  }
  if (resource === 'pods') {
    return `${formatAmount('pods', of)}; the best node takes ${Math.max(0, free)} more (${node ?? ''})`;
  }
  if (of === 1 || total === undefined) {
    const best = Math.max(0, free);
    return `${formatAmount(resource, asked)} on one node; the best node has ${bare(resource, best)} free (${node ?? ''})`;
  }
  const nodes = total.nodes === 1 ? '1 node that matches' : `${total.nodes} nodes that match`;
  const is = resource !== 'cpu' && total.free === 1 ? 'is' : 'are';
  if (total.free >= total.asked) {
    const need =
      total.each === undefined
        ? `${formatAmount(resource, total.asked)} for ${total.pods} pods`
        : `${total.pods} pods of ${formatAmount(resource, total.each)}`;
    return `${need}; ${bare(resource, total.free)} ${is} free on ${nodes}, at most ${bare(resource, total.most)} on one, and ${placed} of ${of} pods fit`;
  }
  return `${formatAmount(resource, total.asked)}; ${bare(resource, total.free)} ${is} free on ${nodes}`;
}

function tellOther(constraint: Constraint, binding: Binding, { of, placed }: NearMiss): string {
  const pod = nameOnly(binding.pod);
  switch (constraint.filter) {
    case 'NodeGone':
      return 'no node stays';
    case 'NodeUnschedulable':
      return 'every node with room is cordoned or going';
    case 'NodeNotReady':
      return 'every node with room is not ready';
    case 'NodeName':
      return `${pod} names a node that goes`;
    case 'TaintToleration': {
      const { effect, key, value } = constraint.taint;
      const nodes = binding.nodes === 1 ? '1 node has' : `${binding.nodes} nodes have`;
      return `${nodes} room but a taint (${key}${value ? `=${value}` : ''}:${effect}) that ${pod} does not tolerate`;
    }
    case 'NodeAffinity':
      return constraint.part === 'selector' && binding.wants !== undefined
        ? `no node that stays has ${binding.wants}`
        : `no node that stays matches the node affinity of ${pod}`;
    case 'NodePorts':
      return `host port ${constraint.port}/${constraint.protocol} is taken on ${binding.nodes} of ${binding.of} nodes`;
    case 'NodeResourcesFit':
      return `${formatAmount(constraint.resource, constraint.asked)}; ${bare(constraint.resource, Math.max(0, constraint.free))} free`;
    case 'VolumeRestrictions':
      return `a volume of ${pod} is in use by ${constraint.holder}`;
    case 'NodeVolumeLimits':
      return `no node takes more ${constraint.driver} volumes`;
    case 'VolumeBinding':
      return `volume ${constraint.claim} ${VOLUME_TEXTS[constraint.cause]}`;
    case 'VolumeZone':
      return `volume ${constraint.volume} is in another ${shortKey(constraint.key)}`;
    case 'PodTopologySpread': {
      const key = shortKey(constraint.key);
      if (constraint.cause === 'MissingLabel') return `no node that stays has the label ${constraint.key}`;
      const by = constraint.maxSkew === 1 ? '1 pod' : `${constraint.maxSkew} pods`;
      return `${key} may differ by ${by}; it would be ${constraint.skew ?? 0}; ${placed} of ${of} find a node`;
    }
    case 'InterPodAffinity': {
      const found = `${placed} of ${of} find a node`;
      const rule = binding.wants ?? constraint.holder ?? 'others';
      if (constraint.cause === 'Affinity') return `${pod} must share ${constraint.key} with ${rule}; ${found}`;
      const other = constraint.cause === 'AntiAffinity' ? rule : (constraint.holder ?? rule);
      return `${pod} must not share ${constraint.key} with ${other}; ${found}`;
    }
    case 'DynamicResources':
      return tellDevices(constraint);
    case 'Topology':
      return `no node has the label ${constraint.key}`;
    case 'Members':
      return `${constraint.exist} of ${constraint.need} members exist`;
  }
}

const VOLUME_TEXTS = {
  NodeAffinity: 'cannot be used on any node that stays',
  Unbound: 'is not bound',
  Lost: 'is lost',
  Missing: 'does not exist',
  ClassMissing: 'names a storage class that does not exist',
  Topology: 'cannot be made on any node that stays',
  Capacity: 'finds no storage large enough',
} as const;

function tellDevices({ asked, cause, claim, deviceClass, free }: Of<'DynamicResources'>): string {
  switch (cause) {
    case 'ClassMissing':
      return `claim ${claim} names device class ${deviceClass ?? ''}, which does not exist`;
    case 'TemplateMissing':
      return `claim ${claim} or its template does not exist`;
    case 'InUse':
      return `claim ${claim} has all the users it can have`;
    case 'ElsewhereAllocated':
      return `claim ${claim} is given out for another node`;
    case 'Count':
      return `${asked ?? 0} devices of class ${deviceClass ?? ''}; the best node has ${free ?? 0}`;
  }
}

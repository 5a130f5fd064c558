/** What of a pod or a template of pods Kubernetes takes and warns of. Every created pod passes here. */
import type { Container, NodeSelectorTerm, PodSpec } from '../../../api/generated/core-v1.ts';
import { type FieldPath, isQuantity, parseNanos } from '../../../machinery/values/index.ts';
import type { ObjectMeta } from '../../exchange/object.ts';
import {
  APPARMOR_CONTAINER,
  APPARMOR_TEXT,
  NODE_LABELS,
  POD_ANNOTATIONS,
  POD_VOLUMES,
  SECCOMP_CONTAINER,
  SECCOMP_POD,
  SECCOMP_TEXT,
} from './deprecated-names.ts';
import { type ContainerLists, portWarnings } from './ports.ts';

interface PodLike {
  readonly metadata?: Pick<ObjectMeta, 'annotations'> | undefined;
  readonly spec?: Partial<PodSpec> | undefined;
}

/**
 * In the order of Kubernetes: where the pod may go, what it is made of, its containers, their ports, whom it wants beside it.
 * `isTemplate`: the annotations of pods themselves for AppArmor are taken as the field, and not warned of.
 */
export function podWarnings({ metadata, spec }: PodLike, at: FieldPath, isTemplate: boolean): string[] {
  if (spec === undefined) return [];
  const warnings: string[] = [];
  const path = at.child('spec');
  const lists = containersOf(spec);
  const annotations = metadata?.annotations;
  const annotated: Annotated | undefined = annotations && {
    annotations,
    path: at.child('metadata', 'annotations'),
    spec,
    isTemplate,
  };
  selectionWarnings(spec, path, warnings);
  for (const name in annotated === undefined ? {} : POD_ANNOTATIONS) {
    if (annotated !== undefined && name in annotated.annotations) {
      warnings.push(`${annotated.path.key(name).toString()}: ${POD_ANNOTATIONS[name]}`);
    }
  }
  volumeWarnings(spec, path, warnings);
  listWarnings(spec, path, warnings);
  if (annotated !== undefined && SECCOMP_POD in annotated.annotations && !spec.securityContext?.seccompProfile) {
    warnings.push(`${annotated.path.key(SECCOMP_POD).toString()}: ${SECCOMP_TEXT}`);
  }
  for (const [list, containers] of lists) {
    containers.forEach((container, index) => {
      if (annotated !== undefined) profileWarnings(container, annotated, warnings);
      containerWarnings(container, path.child(list).index(index), warnings);
    });
  }
  warnings.push(...portWarnings(lists, path));
  if (isTemplate && (spec.terminationGracePeriodSeconds ?? 0) < 0) {
    const why = 'must be >= 0; negative values are invalid and will be treated as 1';
    warnings.push(`${path.child('terminationGracePeriodSeconds').toString()}: ${why}`);
  }
  if (spec.affinity !== undefined) companyWarnings(spec.affinity, path.child('affinity'), warnings);
  return warnings;
}

interface Annotated {
  readonly annotations: Readonly<Record<string, string>>;
  readonly path: FieldPath;
  readonly spec: Partial<PodSpec>;
  readonly isTemplate: boolean;
}

function containersOf({ containers, ephemeralContainers, initContainers }: Partial<PodSpec>): ContainerLists {
  const lists: [string, readonly Container[]][] = [];
  if (initContainers !== undefined) lists.push(['initContainers', initContainers]);
  if (containers !== undefined) lists.push(['containers', containers]);
  if (ephemeralContainers !== undefined) lists.push(['ephemeralContainers', ephemeralContainers as Container[]]);
  return lists;
}

function selectionWarnings(spec: Partial<PodSpec>, path: FieldPath, warnings: string[]): void {
  for (const label in spec.nodeSelector) {
    const why = NODE_LABELS.get(label);
    if (why !== undefined) warnings.push(`${path.child('nodeSelector').key(label).toString()}: ${why}`);
  }
  if (spec.affinity !== undefined) nodeAffinityWarnings(spec.affinity, path.child('affinity'), warnings);
  spec.topologySpreadConstraints?.forEach(({ labelSelector, topologyKey }, index) => {
    const at = path.child('topologySpreadConstraints').index(index);
    const why = NODE_LABELS.get(topologyKey ?? '');
    if (why !== undefined) warnings.push(`${at.child('topologyKey').toString()}: ${topologyKey} is ${why}`);
    if (labelSelector === undefined) warnings.push(`${at.child('labelSelector').toString()}: ${NO_SELECTOR}`);
  });
}

const NO_SELECTOR = 'a null labelSelector results in matching no pod';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

function nodeAffinityWarnings(affinity: NonNullable<PodSpec['affinity']>, path: FieldPath, warnings: string[]): void {
  const nodes = affinity.nodeAffinity;
  const ofNodes = path.child('nodeAffinity');
  nodes?.[REQUIRED]?.nodeSelectorTerms?.forEach((term, index) =>
    warnings.push(...termWarnings(term, ofNodes.child(REQUIRED, 'nodeSelectorTerms').index(index))),
  );
  nodes?.[PREFERRED]?.forEach(({ preference }, index) =>
    warnings.push(...termWarnings(preference ?? {}, ofNodes.child(PREFERRED).index(index).child('preference'))),
  );
}

function companyWarnings(affinity: NonNullable<PodSpec['affinity']>, path: FieldPath, warnings: string[]): void {
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const terms = affinity[kind];
    const at = path.child(kind);
    terms?.[REQUIRED]?.forEach(({ labelSelector }, index) => {
      if (labelSelector === undefined) {
        warnings.push(`${at.child(REQUIRED).index(index).child('labelSelector').toString()}: ${NO_SELECTOR}`);
      }
    });
    terms?.[PREFERRED]?.forEach(({ podAffinityTerm }, index) => {
      if (podAffinityTerm?.labelSelector === undefined) {
        warnings.push(
          `${at.child(PREFERRED).index(index).child('podAffinityTerm', 'labelSelector').toString()}: ${NO_SELECTOR}`,
        );
      }
    });
  }
}

export function termWarnings({ matchExpressions }: NodeSelectorTerm, path: FieldPath): string[] {
  return (matchExpressions ?? []).flatMap(({ key }, index) => {
    const why = NODE_LABELS.get(key);
    return why === undefined
      ? []
      : [`${path.child('matchExpressions').index(index).child('key').toString()}: ${key} is ${why}`];
  });
}

/** Profiles that annotations give a container, where its fields give none. */
function profileWarnings(
  { name, securityContext }: Container,
  { annotations, isTemplate, path, spec }: Annotated,
  warnings: string[],
): void {
  const seccomp = `${SECCOMP_CONTAINER}${name}`;
  if (securityContext?.seccompProfile === undefined && seccomp in annotations) {
    warnings.push(`${path.key(seccomp).toString()}: ${SECCOMP_TEXT}`);
  }
  const appArmor = `${APPARMOR_CONTAINER}${name}`;
  const isSet = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
  if (isTemplate && isSet === undefined && appArmor in annotations) {
    warnings.push(`${path.key(appArmor).toString()}: ${APPARMOR_TEXT}`);
  }
}

function volumeWarnings({ volumes }: Partial<PodSpec>, path: FieldPath, warnings: string[]): void {
  volumes?.forEach((volume, index) => {
    for (const source in volume) {
      const plugin = POD_VOLUMES.get(source);
      if (plugin === undefined) continue;
      warnings.push(`${path.child('volumes').index(index).child(plugin.shown).toString()}: ${plugin.why}`);
    }
  });
}

function listWarnings(spec: Partial<PodSpec>, path: FieldPath, warnings: string[]): void {
  warnings.push(...repeated(spec.hostAliases, 'ip', path.child('hostAliases')));
  warnings.push(...repeated(spec.imagePullSecrets, 'name', path.child('imagePullSecrets')));
  spec.imagePullSecrets?.forEach(({ name = '' }, index) => {
    if (name === '')
      warnings.push(`${path.child('imagePullSecrets').index(index).child('name').toString()}: invalid empty name ""`);
  });
  warnings.push(...fractions(spec.overhead, path.child('overhead')));
}

function repeated<K extends string>(
  items: readonly Readonly<Partial<Record<K, string | undefined>>>[] | undefined,
  field: K,
  path: FieldPath,
): string[] {
  if (items === undefined || items.length < 2) return [];
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const value = item[field] ?? '';
    if (seen.has(value))
      return [`${path.index(index).child(field).toString()}: duplicate ${field} ${JSON.stringify(value)}`];
    seen.add(value);
    return [];
  });
}

const COUNTED_IN_BYTES = ['memory', 'ephemeral-storage'];
const NANOS = 1_000_000_000n;

/** Amounts of bytes that are no whole number. */
export function fractions(
  amounts: Readonly<Record<string, string | number>> | undefined,
  path: FieldPath,
  names: readonly string[] = COUNTED_IN_BYTES,
): string[] {
  if (amounts === undefined) return [];
  return names.flatMap((name) => {
    const amount = amounts[name];
    // Only with these endings, or a point, can it be one.
    if (amount === undefined || !/[.munE]/.test(String(amount)) || !isQuantity(amount)) return [];
    if (parseNanos(amount) % NANOS === 0n) return [];
    return [
      `${path.key(name).toString()}: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`,
    ];
  });
}

function containerWarnings({ env, resources }: Container, path: FieldPath, warnings: string[]): void {
  if (resources !== undefined) {
    const at = path.child('resources');
    for (const name of COUNTED_IN_BYTES) {
      warnings.push(...fractions(resources.limits, at.child('limits'), [name]));
      warnings.push(...fractions(resources.requests, at.child('requests'), [name]));
    }
  }
  if (env === undefined || env.length < 2) return;
  const seen = new Set<string>();
  env.forEach(({ name, value = '', valueFrom }, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return;
    }
    const reference = `$(${name})`;
    const keeps = valueFrom === undefined && value !== reference && value.includes(reference);
    if (keeps) return;
    const why = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    warnings.push(`${path.child('env').index(index).toString()}: ${why}`);
  });
}

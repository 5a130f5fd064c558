/** Whether the names a definition asks for are free, and the conditions that say so. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
} from '../../api/generated/apiextensions-v1.ts';
import { REPLACES_BUILT_IN } from '../../api/crds/index.ts';
import { formatTime } from '../../machinery/values/index.ts';

/** Names other resources of the same group hold. */
export interface TakenNames {
  /** Plurals, singulars and short names. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and list kinds. */
  readonly kinds: ReadonlySet<string>;
}

interface Conflict {
  readonly reason: 'PluralConflict' | 'SingularConflict' | 'ShortNamesConflict' | 'KindConflict' | 'ListKindConflict';
  readonly message: string;
}

export function findConflict(names: CustomResourceDefinitionNames, taken: TakenNames): Conflict | undefined {
  const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;
  if (taken.resources.has(names.plural)) return { reason: 'PluralConflict', message: inUse(names.plural) };
  if (names.singular && taken.resources.has(names.singular)) {
    return { reason: 'SingularConflict', message: inUse(names.singular) };
  }
  const short = names.shortNames?.find((name) => taken.resources.has(name));
  if (short !== undefined) return { reason: 'ShortNamesConflict', message: inUse(short) };
  if (taken.kinds.has(names.kind)) return { reason: 'KindConflict', message: inUse(names.kind) };
  if (names.listKind && taken.kinds.has(names.listKind)) {
    return { reason: 'ListKindConflict', message: inUse(names.listKind) };
  }
  return undefined;
}

/** The status a definition should have, given the names others hold. */
export function acceptNames(
  definition: CustomResourceDefinition,
  taken: TakenNames,
  now: number,
): NonNullable<CustomResourceDefinition['status']> {
  const names = definition.spec?.names ?? { plural: '', kind: '' };
  const conflict = findConflict(names, taken);
  const before = definition.status?.conditions ?? [];
  const wasEstablished = before.some(({ type, status }) => type === 'Established' && status === 'True');
  const conditions: CustomResourceDefinitionCondition[] = [
    conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...conflict },
    conflict === undefined || wasEstablished
      ? {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
        }
      : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
  ];
  return {
    ...definition.status,
    acceptedNames: conflict === undefined ? names : (definition.status?.acceptedNames ?? { plural: '', kind: '' }),
    conditions: mergeConditions(before, conditions, now),
  };
}

/** Says of a definition that is served in the place of a kind of ours what is left to whoever brought it. */
export function withReplacement(
  status: NonNullable<CustomResourceDefinition['status']>,
  own: { readonly kind: string; readonly yields?: string } | undefined,
  now: number,
): NonNullable<CustomResourceDefinition['status']> {
  const conditions = status.conditions ?? [];
  const isEstablished = conditions.some((one) => one.type === 'Established' && one.status === 'True');
  if (own?.yields === undefined || !isEstablished) return status;
  const message = `This definition is served in the place of Quorate's own ${own.kind}. As long as it is there, Quorate ${own.yields}: that is left to the software that brought it.`;
  const replaces = { type: REPLACES_BUILT_IN, status: 'True', reason: 'DefinitionInstalled', message };
  return { ...status, conditions: mergeConditions(conditions, [replaces], now) };
}

/** Sets conditions by type; the time moves only when the status of one changes. */
export function mergeConditions(
  before: readonly CustomResourceDefinitionCondition[],
  set: readonly CustomResourceDefinitionCondition[],
  now: number,
): CustomResourceDefinitionCondition[] {
  const merged = [...before];
  for (const condition of set) {
    const at = merged.findIndex(({ type }) => type === condition.type);
    const old = merged[at];
    if (old === undefined) merged.push({ ...condition, lastTransitionTime: formatTime(now) });
    else {
      const time = old.status === condition.status ? old.lastTransitionTime : formatTime(now);
      merged[at] = { ...old, ...condition, ...(time !== undefined && { lastTransitionTime: time }) };
    }
  }
  return merged;
}

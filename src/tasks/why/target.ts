export type TargetKind = 'pod' | 'budget' | 'unavailable-budget' | 'group' | 'node' | 'any';

/** What `quorate why` is asked about. */
export interface WhyTarget {
  readonly kind: TargetKind;
  readonly name: string;
}

const WORDS: Readonly<Record<Exclude<TargetKind, 'any'>, readonly string[]>> = {
  pod: ['pod', 'pods', 'po'],
  budget: ['pdb', 'pdbs', 'poddisruptionbudget', 'poddisruptionbudgets'],
  'unavailable-budget': ['pub', 'pubs', 'podunavailablebudget', 'podunavailablebudgets'],
  // Also the kinds that other answers name groups by, such as `Workload/train/workers/0`.
  group: [
    'podgroup',
    'podgroups',
    'pg',
    'group',
    'leaderworkerset',
    'leaderworkersets',
    'lws',
    'workload',
    'workloads',
    'jobset',
    'jobsets',
  ],
  node: ['node', 'nodes', 'no'],
};

const KINDS: ReadonlyMap<string, TargetKind> = new Map(
  Object.entries(WORDS).flatMap(([kind, words]) => words.map((word) => [word, kind as TargetKind] as const)),
);

export const TARGET_NAMES: Readonly<Record<TargetKind, string>> = {
  pod: 'pod',
  budget: 'PodDisruptionBudget',
  'unavailable-budget': 'PodUnavailableBudget',
  group: 'group with pods',
  node: 'node',
  any: 'pod, PodDisruptionBudget or PodUnavailableBudget',
};

/** Reads `pod/NAME` and the like; a name alone may be a pod or a budget. */
export function parseTarget(text: string): WhyTarget {
  const slash = text.indexOf('/');
  if (slash < 0) return { kind: 'any', name: text };
  const word = text.slice(0, slash).toLowerCase();
  const kind = KINDS.get(word);
  const name = text.slice(slash + 1);
  if (kind === undefined || name === '') {
    throw new Error(
      `cannot explain "${text}": it must be pod/NAME, pdb/NAME, pub/NAME, podgroup/NAME, node/NAME or a name`,
    );
  }
  return { kind, name };
}

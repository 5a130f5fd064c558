import type { Pod } from '../../../api/generated/core-v1.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { Constraint } from '../filters/constraint.ts';
import { facts, node, type PodOptions } from '../fixtures.ts';
import { fitsOn } from './fits.ts';

export const refusals = (made: Cluster, asked: Pod, on: string): Constraint[] => {
  const answer = fitsOn(facts(made, asked), on, made);
  return answer.fits ? [] : answer.refusals.map(({ constraint }) => constraint);
};

export const passing = (made: Cluster, asked: Pod): string[] =>
  made.nodes
    .map(({ name }) => name)
    .filter((name) => refusals(made, asked, name).length === 0)
    .sort();

export const zone = (value: string) => ({ labels: { zone: value } });

export const box = (requests: Record<string, string>, more: object = {}) => ({
  name: `c${Math.abs(JSON.stringify([requests, more]).length)}`,
  image: 'i',
  resources: { requests },
  ...more,
});

export const GPU = 'nvidia.com/gpu';

export const cpu = (amount: string, more: object = {}) => box({ cpu: amount }, more);

export const affinity = (...terms: object[]): PodOptions =>
  ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
  }) as PodOptions;

export const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
});

export const ab = () => [node('a', zone('a')), node('b', zone('b'))];

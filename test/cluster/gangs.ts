/** Gangs, their pods and a budget over them, as several suites on a cluster need them; and what a budget shows. */
import { expect } from 'vitest';
import type { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import { OWN_SCHEDULING_GROUP } from '../../src/api/scheduling/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as groups from '../scenarios/stories/groups.ts';
import * as stage from './stage.ts';

export const pod = (name: string, app: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app } },
  spec: { nodeName: 'node-0', containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.9' }], ...spec },
});

export const budget = (name: string, spec: object) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'default' },
  spec: { selector: { matchLabels: { app: name } }, ...spec },
});

/** `count` gangs of `size` pods each, of one Workload; `specOf` says more about the pods of each. */
export function gangs(
  app: string,
  count: number,
  size: number,
  specOf: (gang: number) => object = () => ({}),
): object[] {
  const names = Array.from({ length: count }, (_, at) => `${app}-g${at}`);
  return [
    served(groups.workload(stage.groupVersion, app, size)),
    ...names.map((name) => served(groups.podGroup(stage.groupVersion, name, app, size))),
    ...names.flatMap((group, gang) =>
      Array.from({ length: size }, (_, at) => memberOf(group, pod(`${group}-${at}`, app, specOf(gang)))),
    ),
  ];
}

/** In the API group that the chosen minor serves it in. */
export const served = (object: object): object =>
  stage.groupKinds === 'native' ? object : { ...object, apiVersion: `${OWN_SCHEDULING_GROUP}/${stage.groupVersion}` };

/** A pod, or its template, in a group. Kubernetes that knows no groups drops the field, so there an annotation names it. */
export function memberOf(
  podGroupName: string,
  {
    metadata,
    spec,
    ...rest
  }: { readonly metadata: { readonly labels?: object; readonly annotations?: object }; readonly spec: object },
): object {
  if (stage.groupKinds === 'native') return { ...rest, metadata, spec: { schedulingGroup: { podGroupName }, ...spec } };
  const link = { ['groups.quorate.dev/schedulingGroup']: JSON.stringify({ podGroupName }) };
  return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, ...link } }, spec };
}

export const markerOf = ({ status }: PodDisruptionBudget) =>
  status?.conditions?.find(({ type }) => type === 'CountsGroups');

/** Expected, current, desired and allowed pods. */
export const numbersOf = ({ status = {} }: PodDisruptionBudget): string =>
  [status.expectedPods, status.currentHealthy, status.desiredHealthy, status.disruptionsAllowed].join('/');

/** Reads budgets of the default namespace, and waits for what they show. */
export function budgetsOn(plane: () => RealControlPlane) {
  const read = async (name: string): Promise<PodDisruptionBudget> =>
    JSON.parse(
      await stage.kubectl(plane(), 'get', 'pdb', name, '-o', 'json', '--show-managed-fields'),
    ) as PodDisruptionBudget;
  return {
    read,
    shows: async (name: string, wanted: string): Promise<void> => {
      let last = '';
      await stage
        .until(`budget ${name} to show ${wanted}`, async () => (last = numbersOf(await read(name))) === wanted)
        .catch((error: unknown) => expect.fail(`${String(error)}; it shows ${last}`));
    },
    /** Read again and again until nobody writes it any more: numbers are there before the last condition is. */
    atRest: async (name: string): Promise<PodDisruptionBudget> => {
      let last = await read(name);
      let unchanged = 0;
      await stage.until(`budget ${name} to be at rest`, async () => {
        const found = await read(name);
        unchanged = found.metadata.resourceVersion === last.metadata.resourceVersion ? unchanged + 1 : 0;
        last = found;
        return unchanged >= 5;
      });
      return last;
    },
  };
}

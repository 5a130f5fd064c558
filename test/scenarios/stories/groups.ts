/** Workloads and PodGroups in the version a host serves. */
import { servedPodGroup, servedWorkload, type SchedulingVersion } from '../../../src/api/scheduling/index.ts';
import { pod, type StoryHost, until } from './host.ts';

export const workload = (version: SchedulingVersion, name: string, minCount: number): object => ({
  ...servedWorkload(
    {
      metadata: { name },
      spec: { podGroupTemplates: [{ name: 'gang', schedulingPolicy: { gang: { minCount } } }] },
    },
    version,
  ),
  kind: 'Workload',
});

export const podGroup = (version: SchedulingVersion, name: string, of: string, minCount: number): object => ({
  ...servedPodGroup(
    {
      metadata: { name },
      spec: {
        workloadRef: { workloadName: of, templateName: 'gang' },
        schedulingPolicy: { gang: { minCount } },
      },
    },
    version,
  ),
  kind: 'PodGroup',
});

/** A PodGroup that asks for no minimum. */
export const basicGroup = (version: SchedulingVersion, name: string): object => ({
  ...servedPodGroup({ metadata: { name }, spec: { schedulingPolicy: { basic: {} } } }, version),
  kind: 'PodGroup',
});

export const member = (group: string, at: number | string, spec: object): object =>
  pod(`${group}-${at}`, { app: 'train' }, { schedulingGroup: { podGroupName: group }, ...spec });

/** So many gangs `g0`, `g1` of one Workload, each of so many pods, spread over the nodes. */
export function gangs(version: SchedulingVersion, count: number, size: number, minCount = size): object[] {
  const names = Array.from({ length: count }, (_, index) => `g${index}`);
  return [
    workload(version, 'train', minCount),
    ...names.map((name) => podGroup(version, name, 'train', minCount)),
    ...names.flatMap((name) =>
      Array.from({ length: size }, (_, at) => member(name, at, { nodeName: `node-${at % 3}` })),
    ),
  ];
}

export const budget = (spec: object, annotations: Record<string, string> = {}): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'train', annotations },
  spec: { selector: { matchLabels: { app: 'train' } }, ...spec },
});

/** The numbers a budget publishes where it counts pods: expected, healthy, needed, allowed. */
export const numbersOf = ({ kubectl }: StoryHost, namespace: string): Promise<string> =>
  kubectl.out(
    'get',
    'pdb',
    'train',
    '-n',
    namespace,
    '-o',
    'jsonpath={.status.expectedPods}/{.status.currentHealthy}/{.status.desiredHealthy}/{.status.disruptionsAllowed}',
  );

/** Waits until the budget counts groups, or does not and says why not. */
export async function untilMode(host: StoryHost, namespace: string, status: 'True' | 'False', reason: string) {
  await until(`PodGroupBudget to be ${status}, ${reason}`, async () => {
    const { conditions } = await host.published(namespace, 'train');
    const said = conditions?.find(({ type }) => type === 'PodGroupBudget');
    return said?.status === status && said.reason === reason;
  });
}

/** Where a history takes place: a namespace of its own, its clock, what its clients know of one another. */
import { Dice } from '../attacks/fuzz/dice.ts';
import type { Access } from '../attacks/harness/index.ts';
import type { Connection, Question, Reply, ReplyObject } from './client.ts';
import { type Collection, emptyHistory, type History, type Item } from './history.ts';

export interface Stage {
  readonly access: Access;
  readonly history: History;
  readonly namespace: string;
  readonly dice: Dice;
  /** Answers that no client may get, in words. */
  readonly odd: string[];
  /** The latest that anybody saw of an object; of the budget, too. */
  readonly seen: Map<string, { readonly value: string; readonly revision: number }>;
  readonly tick: () => number;
  /** A value that nobody else writes. */
  readonly newValue: () => string;
  /** Told of every request as it goes out, and of every answer. */
  readonly happened: (what: 'sent' | 'answered') => void;
  /** No more writes but the last ones: everybody is to hear of these. */
  readonly isEnding: () => boolean;
  /** Resolves when the server answers; to false when the history is at its end. */
  readonly whenUp: () => Promise<boolean>;
}

export type StageOptions = Pick<Stage, 'access' | 'namespace' | 'happened' | 'isEnding' | 'whenUp'>;

export function createStage(seed: number, options: StageOptions): Stage {
  let now = 0;
  let values = 0;
  return {
    ...options,
    history: emptyHistory(seed),
    dice: new Dice(seed),
    odd: [],
    seen: new Map(),
    tick: () => (now += 1),
    newValue: () => `v${(values += 1)}`,
  };
}

export const GUARDED_PODS = Array.from({ length: 12 }, (_, at) => `g${at}`);
export const BUDGET = 'budget';
const LABELS = { app: 'guarded' };

export const collectionPath = ({ namespace }: Stage, collection: Collection | 'poddisruptionbudgets'): string => {
  const groups = { configmaps: '/api/v1', pods: '/api/v1', roles: '/apis/rbac.authorization.k8s.io/v1' };
  const group = collection === 'poddisruptionbudgets' ? '/apis/policy/v1' : groups[collection];
  return `${group}/namespaces/${namespace}/${collection}`;
};

/** What holds an object's value. */
export function holding(collection: Collection, value: string): object {
  if (collection === 'configmaps') return { data: { value } };
  if (collection === 'pods') return { metadata: { annotations: { value } } };
  return { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: value.split(',') }] };
}

export function bodyOf(collection: Collection, name: string, value: string): object {
  if (collection !== 'pods') return { metadata: { name }, ...holding(collection, value) };
  const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'i' }] };
  return { metadata: { name, annotations: { value }, ...(name.startsWith('g') && { labels: LABELS }) }, spec };
}

export function itemOf(collection: Collection, { metadata, ...object }: ReplyObject): Item & { uid: string } {
  const held = object as { data?: { value?: string }; rules?: { resourceNames?: string[] }[] };
  const annotations = metadata?.['annotations'] as { value?: string } | undefined;
  const values = {
    configmaps: held.data?.value,
    pods: annotations?.value,
    roles: held.rules?.[0]?.resourceNames?.join(','),
  };
  return {
    name: metadata?.name ?? '',
    value: values[collection] ?? 'nothing',
    revision: Number(metadata?.resourceVersion),
    uid: metadata?.uid ?? '',
  };
}

/** The namespace, and a budget over running pods: what evictions ask is told by its status, which clients write. */
export async function setStage(stage: Stage, connection: Connection): Promise<void> {
  const { history, namespace, newValue, seen, tick } = stage;
  const make = async (question: Question): Promise<Reply> => {
    const reply = await connection.ask(question);
    if (typeof reply === 'object' && reply.status < 300) return reply;
    throw new Error(`Cannot set the stage: ${question.path}: ${JSON.stringify(reply)}`);
  };
  const post = (path: string, body: object) => make({ method: 'POST', path, body });
  await post('/api/v1/namespaces', { metadata: { name: namespace } });
  await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
  const type = 'application/merge-patch+json';
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  for (const name of GUARDED_PODS) {
    const called = tick();
    const value = newValue();
    await post(collectionPath(stage, 'pods'), bodyOf('pods', name, value));
    const path = `${collectionPath(stage, 'pods')}/${name}/status`;
    const { object } = await make({ method: 'PATCH', path, type, body: { status } });
    const { revision } = itemOf('pods', object);
    const answer = { is: 'done', value, revision } as const;
    const what = { kind: 'create', client: 'stage', collection: 'pods', name, value } as const;
    history.operations.push({ ...what, called, answered: tick(), answer });
  }
  const budgets = collectionPath(stage, 'poddisruptionbudgets');
  await post(budgets, { metadata: { name: BUDGET }, spec: { minAvailable: 0, selector: { matchLabels: LABELS } } });
  const called = tick();
  const { object } = await make({ method: 'PATCH', path: `${budgets}/${BUDGET}/status`, type, body: budgetBody(2) });
  const revision = Number(object.metadata?.resourceVersion);
  seen.set(BUDGET, { value: '2', revision });
  const answer = { is: 'done', revision } as const;
  history.budget.push({ kind: 'set', client: 'stage', allowed: 2, called, answered: tick(), answer });
}

export function budgetBody(disruptionsAllowed: number, revision?: number): object {
  const count = GUARDED_PODS.length;
  const counts = { expectedPods: count, currentHealthy: count, desiredHealthy: 0, observedGeneration: 1 };
  return {
    ...(revision !== undefined && { metadata: { resourceVersion: String(revision) } }),
    status: { ...counts, disruptionsAllowed },
  };
}

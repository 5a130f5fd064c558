/**
 * Evictions as a kube-apiserver does them for a cluster with the operator: a webhook is asked first and may pin what it
 * judged, then the published numbers of the one budget that selects the pod are taken from, and at last the pod is
 * deleted; two writes, with time between them.
 */
import { removePod } from '../../src/apiserver/eviction/remove-pod.ts';
import { ApiError, failure, notFound } from '../../src/apiserver/exchange/status.ts';
import type { ApiObject } from '../../src/apiserver/exchange/object.ts';
import type { ServerContext } from '../../src/apiserver/index.ts';
import { applyJsonPatch } from '../../src/apiserver/patch/json-patch.ts';
import { objectKey, type Resource } from '../../src/apiserver/registry/resource.ts';
import type { Subresource, SubresourceCall } from '../../src/apiserver/registry/subresource.ts';
import { putObject } from '../../src/apiserver/stored/encoding.ts';
import type { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import { formatTime } from '../../src/machinery/values/index.ts';
import type { Transaction } from '../../src/storage/index.ts';
import type { ReviewRequest, ReviewResponse } from '../../src/webhook/index.ts';
import { isLeaving, isReady } from './oracles/pods.ts';
import type { StoredObject } from './history.ts';

/** Asks a replica; rejects where none answers in time. */
export type AskWebhook = (request: ReviewRequest) => Promise<ReviewResponse>;

interface Options {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

export function serveKubernetesEvictions(context: ServerContext, ask: AskWebhook): void {
  const { registry, store } = context;
  const pods = registry.byPlural('', 'pods');
  const budgets = registry.byPlural('policy', 'poddisruptionbudgets');
  const real = pods?.subresources.get('eviction');
  if (pods === undefined || budgets === undefined || real === undefined) throw new Error('evictions are not served');
  const subresource: Subresource = {
    ...real,
    async handle(call) {
      const eviction = await review(call, ask);
      const options = (eviction['deleteOptions'] ?? {}) as Options;
      const key = objectKey(pods, call.namespace ?? '', call.name);
      await store.transact((transaction) => charge({ context, pods, budgets }, transaction, { call, key }));
      await store.transact((transaction) => {
        const entry = transaction.get(key);
        if (entry === undefined) throw notFound(pods, call.name);
        removePod(context, transaction, { resource: pods, key, name: call.name, entry, options });
      });
      return call.answer(201, SUCCESS);
    },
  };
  (pods.subresources as Map<string, Subresource>).set('eviction', subresource);
}

async function review(call: SubresourceCall, ask: AskWebhook): Promise<ApiObject> {
  const eviction = call.body();
  let response: ReviewResponse;
  try {
    response = await ask({
      uid: `${call.namespace}/${call.name}`,
      operation: 'CREATE',
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      name: call.name,
      namespace: call.namespace ?? '',
      userInfo: { username: call.user.username },
      object: eviction as unknown as Record<string, unknown>,
      dryRun: false,
    });
  } catch (error) {
    throw failure(500, 'InternalError', `Internal error occurred: failed calling webhook: ${String(error)}`);
  }
  const { allowed, patch, status } = response;
  if (!allowed) throw failure(status?.code ?? 400, status?.reason ?? 'BadRequest', status?.message ?? 'refused');
  if (patch === undefined) return eviction;
  const steps: unknown = JSON.parse(Buffer.from(patch, 'base64').toString('utf8'));
  return applyJsonPatch(eviction as never, steps) as unknown as ApiObject;
}

interface Kinds {
  readonly context: ServerContext;
  readonly pods: Resource;
  readonly budgets: Resource;
}

/** The rules of the eviction handler of Kubernetes, for the published numbers of a budget. */
function charge(
  { budgets, context, pods }: Kinds,
  transaction: Transaction,
  { call, key }: { call: SubresourceCall; key: string },
): void {
  const entry = transaction.get(key);
  if (entry === undefined) throw notFound(pods, call.name);
  const pod = JSON.parse(entry.value.toString()) as StoredObject;
  if (isLeaving(pod) || pod.status?.phase !== 'Running') return;
  const prefix = objectKey(budgets, call.namespace ?? '', '');
  const selecting = [...transaction.range(prefix)].filter(({ value }) => {
    const { spec } = JSON.parse(value.toString()) as PodDisruptionBudget;
    const wanted = Object.entries(spec?.selector?.matchLabels ?? {});
    return wanted.every(([name, text]) => pod.metadata.labels?.[name] === text);
  });
  const [found] = selecting;
  if (found === undefined) return;
  const { managedFields, object } = context.objects.readParts(found);
  const budget = object as unknown as PodDisruptionBudget;
  const {
    currentHealthy = 0,
    desiredHealthy = 0,
    disruptionsAllowed = 0,
    observedGeneration = 0,
  } = budget.status ?? {};
  if (observedGeneration < (budget.metadata.generation ?? 0)) throw tooMany(call.name);
  if (!isReady(pod) && currentHealthy >= desiredHealthy && desiredHealthy > 0) return;
  if (disruptionsAllowed <= 0) throw tooMany(call.name);
  const disruptedPods = { ...budget.status?.disruptedPods, [call.name]: formatTime(context.clock.now()) };
  const status = { ...budget.status, disruptionsAllowed: disruptionsAllowed - 1, disruptedPods };
  const charged = { ...object, metadata: { ...object.metadata }, status } as ApiObject;
  putObject(context, transaction, { resource: budgets, key: found.key, object: charged, managedFields });
}

const tooMany = (name: string): ApiError =>
  failure(429, 'TooManyRequests', `Cannot evict pod ${name} as it would violate the pod's disruption budget.`);

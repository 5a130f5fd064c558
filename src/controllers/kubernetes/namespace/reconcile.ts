import type { Namespace } from '../../../api/generated/core-v1.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { namespaceType } from '../../../api/resource-types.ts';
import {
  type Client,
  type Clock,
  type Informer,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';
import { deleteContent } from './content.ts';
import { computeStatus } from './status.ts';

const FINALIZER = 'kubernetes';
const SHORTEST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

export interface NamespaceDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly namespaces: Informer<Namespace>;
}

/** Empties one namespace that is being deleted, says on it what still holds it up, and lets it go when it is empty. */
export async function reconcileNamespace(deps: NamespaceDeps, { name }: ObjectKey): Promise<ReconcileResult> {
  const namespace = deps.namespaces.get({ name });
  if (!namespace?.metadata.deletionTimestamp) return settled;
  if (namespace.spec?.finalizers?.includes(FINALIZER) !== true) return settled;

  const { client, clock } = deps;
  const report = await deleteContent(client, name);
  const isEmpty = report.remaining.size === 0 && report.deletionErrors.length === 0 && report.undiscovered.length === 0;
  const status = computeStatus(namespace.status ?? {}, report, clock.now());
  let current = namespace;
  if (status !== namespace.status && !(isEmpty && leavesAtOnce(namespace))) {
    current = await client.updateStatus(namespaceType, { ...namespace, status });
  }
  if (!isEmpty) return { requeueAfterMs: waitMs(namespace, clock.now()) };

  const finalizers = (current.spec?.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  await client.update(
    namespaceType,
    { ...current, spec: { ...current.spec, finalizers } },
    { subresource: 'finalize' },
  );
  return settled;
}

/** Nobody would see a status written now. */
function leavesAtOnce({ metadata, spec, status }: Namespace): boolean {
  return !metadata.finalizers?.length && spec?.finalizers?.length === 1 && !status?.conditions?.length;
}

/** Pods wake the namespace as they go; for the rest it looks again, less often the longer it has been waiting. */
function waitMs({ metadata }: Namespace, now: number): number {
  const since = parseTime(metadata.deletionTimestamp) ?? now;
  return Math.min(Math.max((now - since) / 4, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
}

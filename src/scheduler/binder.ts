import { podType } from '../api/resource-types.ts';
import {
  type ControllerContext,
  isConflict,
  isNotFound,
  type ReconcileResult,
  runController,
  settled,
  WorkQueue,
} from '../machinery/runtime/index.ts';
import type { KnownPod, PodBook } from './pod-book.ts';

export interface BinderOptions {
  readonly context: ControllerContext;
  readonly book: PodBook;
  /** Asked again right before the write: the group may have lost a member meanwhile. */
  readonly mayBind: (known: KnownPod) => boolean;
  /** Has to be done before the pod may start; a failure is tried again. */
  readonly beforeBind: (known: KnownPod) => Promise<void>;
  readonly onBound: (known: KnownPod) => void;
  /** The server will never accept this binding. */
  readonly onRefused: (known: KnownPod, error: Error) => void;
  readonly workers?: number | undefined;
}

const RETRY_FIRST_MS = 50;
const RETRY_LONGEST_MS = 5000;

/**
 * Writes bindings. A server that cannot be reached is asked again for as long as the pod keeps its place, because
 * siblings may be bound already; only a refusal gives the place up.
 */
export function startBinder(options: BinderOptions): { bind: (known: KnownPod) => void; queue: WorkQueue } {
  const { beforeBind, book, context, mayBind, onBound, onRefused, workers = 32 } = options;
  const queue = new WorkQueue({
    name: 'scheduler-bindings',
    clock: context.clock,
    metrics: context.metrics,
    baseDelayMs: RETRY_FIRST_MS,
    maxDelayMs: RETRY_LONGEST_MS,
  });
  const reconcile = async ({ name: uid }: { readonly name: string }): Promise<ReconcileResult> => {
    const known = book.get(uid);
    if (known?.standing !== 'assumed' || known.node === undefined || !mayBind(known)) return settled;
    const { metadata } = known.pod;
    const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
      target: { apiVersion: 'v1', kind: 'Node', name: known.node },
    };
    if (known.facts.claims.length > 0) await beforeBind(known);
    try {
      await context.client.createSubresource(podType, key, 'binding', binding);
    } catch (error) {
      if (!(error instanceof Error) || !isFinal(error)) throw error;
      onRefused(known, error);
      return settled;
    }
    onBound(known);
    return settled;
  };
  runController({ name: 'scheduler-bindings', context, queue, workers, reconcile });
  return { bind: ({ facts }) => queue.add(facts.uid), queue };
}

function isFinal(error: Error): boolean {
  if (isNotFound(error) || isConflict(error)) return true;
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && code >= 400 && code < 500 && code !== 429;
}

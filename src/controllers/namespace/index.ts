import { namespaceType, podType } from '../../api/resource-types.ts';
import { type RunningController, runController, type StartController } from '../../machinery/runtime/index.ts';
import { reconcileNamespace } from './reconcile.ts';

/** Empties namespaces that are being deleted, pods first, and lets them go. */
export const startNamespaceController: StartController = (context): RunningController => {
  const { client, clock, informers } = context;
  const namespaces = informers.of(namespaceType);
  const pods = informers.of(podType);
  const { queue } = runController({
    name: 'namespace',
    context,
    workers: 10,
    ready: async () => {
      await Promise.all([namespaces.whenSynced(), pods.whenSynced()]);
    },
    reconcile: (key) => reconcileNamespace({ client, clock, namespaces }, key),
  });

  const wake = (name: string | undefined) => {
    if (name !== undefined && namespaces.get({ name })?.metadata.deletionTimestamp) queue.add(name);
  };
  namespaces.addHandler({
    added: ({ metadata }) => wake(metadata.name),
    updated: ({ metadata }) => wake(metadata.name),
  });
  pods.addHandler({ deleted: ({ metadata }) => wake(metadata.namespace) });
  return { name: 'namespace', queues: [queue] };
};

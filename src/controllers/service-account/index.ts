import type { ObjectKey } from '../../api/resource.ts';
import { namespaceType, serviceAccountType } from '../../api/resource-types.ts';
import {
  isAlreadyExists,
  type ReconcileResult,
  type RunningController,
  runController,
  type StartController,
  settled,
} from '../../machinery/runtime/index.ts';

const ACCOUNT = 'default';

/** Keeps a ServiceAccount `default` in every namespace that is not going away. Keys are namespace names. */
export const startServiceAccountController: StartController = (context): RunningController => {
  const { client, informers } = context;
  const namespaces = informers.of(namespaceType);
  const accounts = informers.of(serviceAccountType);

  async function reconcile({ name: namespace }: ObjectKey): Promise<ReconcileResult> {
    const owner = namespaces.get({ name: namespace });
    if (owner === undefined || owner.metadata.deletionTimestamp) return settled;
    if (accounts.get({ namespace, name: ACCOUNT }) !== undefined) return settled;
    try {
      await client.create(serviceAccountType, { metadata: { namespace, name: ACCOUNT } });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    return settled;
  }

  const { queue } = runController({
    name: 'service-account',
    context,
    ready: async () => {
      await Promise.all([namespaces.whenSynced(), accounts.whenSynced()]);
    },
    reconcile,
  });
  namespaces.addHandler({
    added: ({ metadata }) => queue.add(metadata.name ?? ''),
    updated: ({ metadata }) => queue.add(metadata.name ?? ''),
  });
  accounts.addHandler({
    deleted: ({ metadata }) => {
      if (metadata.name === ACCOUNT) queue.add(metadata.namespace ?? '');
    },
  });
  return { name: 'service-account', queues: [queue] };
};

import { namespaceType, podType } from '../../../api/resource-types.ts';
import { defineController, watch } from '../../../machinery/runtime/index.ts';
import { reconcileNamespace } from './reconcile.ts';

/** Empties namespaces that are being deleted, pods first, and lets them go. */
export const namespaceController = defineController({
  name: 'namespace',
  workers: 10,
  deps: ({ client, clock, informers }) => ({
    client,
    clock,
    namespaces: informers.of(namespaceType),
    pods: informers.of(podType),
  }),
  watches({ namespaces, pods }) {
    const terminating = (name = ''): string | undefined =>
      namespaces.get({ name })?.metadata.deletionTimestamp ? name : undefined;
    return [
      watch(namespaces, {
        added: ({ metadata }) => terminating(metadata.name),
        updated: ({ metadata }) => terminating(metadata.name),
      }),
      watch(pods, { deleted: ({ metadata }) => terminating(metadata.namespace) }),
    ];
  },
  reconcile: reconcileNamespace,
});

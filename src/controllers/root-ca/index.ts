import type { ConfigMap } from '../../api/generated/core-v1.ts';
import type { ObjectKey } from '../../api/resource.ts';
import { configMapType, namespaceType } from '../../api/resource-types.ts';
import {
  Informer,
  isAlreadyExists,
  type ReconcileResult,
  type RunningController,
  runController,
  type StartController,
  settled,
} from '../../machinery/runtime/index.ts';
import { deepEqual } from '../../machinery/values/index.ts';

const NAME = 'kube-root-ca.crt';

/**
 * Publishes the certificate authority of the API server as ConfigMap `kube-root-ca.crt` in every namespace, and puts
 * it back when someone changes or deletes it. Keys are namespace names.
 */
export function rootCaController(caCertificate: string): StartController {
  return (context): RunningController => {
    const { client, clock, informers, log, signal } = context;
    const namespaces = informers.of(namespaceType);
    // Its own informer: config maps may be many and large, and only one per namespace matters here.
    const published = new Informer<ConfigMap>({
      client,
      clock,
      log,
      type: configMapType,
      fieldSelector: `metadata.name=${NAME}`,
    });
    published.start(signal);
    const data = { 'ca.crt': caCertificate };

    async function reconcile({ name: namespace }: ObjectKey): Promise<ReconcileResult> {
      const owner = namespaces.get({ name: namespace });
      if (owner === undefined || owner.metadata.deletionTimestamp) return settled;
      const current = published.get({ namespace, name: NAME });
      if (current === undefined) {
        try {
          await client.create(configMapType, { metadata: { namespace, name: NAME }, data });
        } catch (error) {
          if (!isAlreadyExists(error)) throw error;
        }
      } else if (!deepEqual(current.data, data) || current.binaryData !== undefined) {
        const { binaryData: _, ...rest } = current;
        await client.update(configMapType, { ...rest, data });
      }
      return settled;
    }

    const { queue } = runController({
      name: 'root-ca',
      context,
      ready: async () => {
        await Promise.all([namespaces.whenSynced(), published.whenSynced()]);
      },
      reconcile,
    });
    namespaces.addHandler({
      added: ({ metadata }) => queue.add(metadata.name ?? ''),
      updated: ({ metadata }) => queue.add(metadata.name ?? ''),
    });
    published.addHandler({
      updated: ({ metadata }) => queue.add(metadata.namespace ?? ''),
      deleted: ({ metadata }) => queue.add(metadata.namespace ?? ''),
    });
    return { name: 'root-ca', queues: [queue] };
  };
}

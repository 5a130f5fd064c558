import type { ConfigMap } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/resource.ts';
import { configMapType, namespaceType } from '../../../api/resource-types.ts';
import {
  type Controller,
  defineController,
  Informer,
  isAlreadyExists,
  settled,
  watch,
} from '../../../machinery/runtime/index.ts';
import { deepEqual } from '../../../machinery/values/index.ts';

const NAME = 'kube-root-ca.crt';

/**
 * Publishes the certificate authority of the API server as ConfigMap `kube-root-ca.crt` in every namespace, and puts
 * it back when someone changes or deletes it. Keys are namespace names.
 */
export function createRootCaController(caCertificate: string): Controller {
  const data = { 'ca.crt': caCertificate };
  return defineController({
    name: 'root-ca',
    deps({ client, clock, informers, log, signal }) {
      // Its own informer: config maps may be many and large, and only one per namespace matters here.
      const fieldSelector = `metadata.name=${NAME}`;
      const published = new Informer<ConfigMap>({ client, clock, log, type: configMapType, fieldSelector });
      published.start(signal);
      return { client, namespaces: informers.of(namespaceType), published };
    },
    watches({ namespaces, published }) {
      const where = ({ metadata }: ConfigMap): string => metadata.namespace ?? '';
      return [
        watch(namespaces, { added: keyOf, updated: keyOf }),
        watch(published, { updated: where, deleted: where }),
      ];
    },
    async reconcile({ client, namespaces, published }, { name: namespace }) {
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
    },
  });
}

import { namespaceType, serviceAccountType } from '../../../api/resource-types.ts';
import { keyOf } from '../../../api/resource.ts';
import { defineController, isAlreadyExists, settled, watch } from '../../../machinery/runtime/index.ts';

const ACCOUNT = 'default';

/** Keeps a ServiceAccount `default` in every namespace that is not going away. Keys are namespace names. */
export const serviceAccountController = defineController({
  name: 'service-account',
  deps: ({ client, informers }) => ({
    client,
    namespaces: informers.of(namespaceType),
    accounts: informers.of(serviceAccountType),
  }),
  watches: ({ accounts, namespaces }) => [
    watch(namespaces, { added: keyOf, updated: keyOf }),
    watch(accounts, {
      deleted: ({ metadata }) => (metadata.name === ACCOUNT ? (metadata.namespace ?? '') : undefined),
    }),
  ],
  async reconcile({ accounts, client, namespaces }, { name: namespace }) {
    const owner = namespaces.get({ name: namespace });
    if (owner === undefined || owner.metadata.deletionTimestamp) return settled;
    if (accounts.get({ namespace, name: ACCOUNT }) !== undefined) return settled;
    try {
      await client.create(serviceAccountType, { metadata: { namespace, name: ACCOUNT } });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    return settled;
  },
});

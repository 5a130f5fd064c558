import { KubernetesObjectApi, PatchStrategy } from '@kubernetes/client-node';
import { wanted } from './wanted.mjs';

/** Brings everything a Shard consists of into being. Safe to repeat at any time: each object is applied, none is created twice. */
export async function reconcile(kubeConfig, { namespace, name }) {
  const api = KubernetesObjectApi.makeApiClient(kubeConfig);
  const shard = await api.read({ apiVersion: 'example.com/v1', kind: 'Shard', metadata: { namespace, name } });
  for (const object of wanted(shard)) {
    await api.patch(object, undefined, undefined, 'shard-operator', true, PatchStrategy.ServerSideApply);
  }
}

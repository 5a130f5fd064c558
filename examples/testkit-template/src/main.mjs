/** `npm start`: reconciles every Shard of the cluster in KUBECONFIG, and each one again when it changes. */
import { KubeConfig, makeInformer, KubernetesObjectApi } from '@kubernetes/client-node';
import { reconcile } from './reconcile.mjs';

const RETRY_MS = 5000;
const kubeConfig = new KubeConfig();
kubeConfig.loadFromDefault();

const list = () => KubernetesObjectApi.makeApiClient(kubeConfig).list('example.com/v1', 'Shard');
const informer = makeInformer(kubeConfig, '/apis/example.com/v1/shards', list);

function work({ metadata }) {
  reconcile(kubeConfig, metadata).catch((error) => {
    console.error(`Cannot reconcile Shard ${metadata.namespace}/${metadata.name}: ${error.message}`);
    setTimeout(work, RETRY_MS, { metadata });
  });
}

informer.on('add', work);
informer.on('update', work);
informer.on('error', (error) => {
  console.error(`Cannot watch Shards: ${error.message}`);
  setTimeout(() => void informer.start(), RETRY_MS);
});
await informer.start();

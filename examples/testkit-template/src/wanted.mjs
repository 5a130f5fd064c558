/** What a Shard consists of, in the order it is made. Pure: the same Shard always gives the same objects. */
export function wanted({ apiVersion, kind, metadata: { name, namespace, uid }, spec }) {
  const labels = { 'example.com/shard': name };
  const metadata = { name, namespace, ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] };

  // First, so that no pod is ever without it. One whole group: the pods name their groups, so Quorate counts groups.
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
  };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'serve', image: 'example.com/serve' }] },
  };
  const set = {
    apiVersion: 'leaderworkerset.x-k8s.io/v1',
    kind: 'LeaderWorkerSet',
    metadata,
    spec: {
      replicas: spec.groups,
      scheduling: {}, // a group starts whole or not at all
      leaderWorkerTemplate: { size: spec.size, workerTemplate: template },
    },
  };
  return [budget, set];
}

/** What every control plane holds from the start. */
import { builtinType } from '../api/registry.ts';
import type { KubeObject, ResourceType } from '../api/resource.ts';
import { type Client, isAlreadyExists } from '../machinery/runtime/index.ts';

const SERVICE_RANGE = '10.96.0.0/16';
const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** The critical classes of Kubernetes; the numbers are part of the API. */
const PRIORITY_CLASSES = [
  { name: 'system-cluster-critical', value: 2_000_000_000, description: 'For pods the cluster cannot do without.' },
  { name: 'system-node-critical', value: 2_000_001_000, description: 'For pods a node cannot do without.' },
];

export async function bootstrapObjects(client: Client): Promise<void> {
  for (const name of NAMESPACES) await ensure(client, builtinType('Namespace'), { metadata: { name } });
  for (const { name, value, description } of PRIORITY_CLASSES) {
    const priorityClass = { metadata: { name }, value, description };
    await ensure(client, builtinType('PriorityClass', 'scheduling.k8s.io'), priorityClass);
  }
  await ensureServiceRange(client);
  for (const namespace of NAMESPACES) {
    await ensure(client, builtinType('ServiceAccount'), { metadata: { name: 'default', namespace } });
  }
}

/**
 * What other servers and controllers read about who may log in here: the authority of client certificates, and since
 * when tokens in Secrets are tracked.
 */
export async function publishAuthentication(
  client: Client,
  { authority, frontProxy, frontProxyName }: { authority: string; frontProxy: string; frontProxyName: string },
  now: Date,
): Promise<void> {
  const namespace = 'kube-system';
  const data = {
    'client-ca-file': authority,
    'requestheader-allowed-names': JSON.stringify([frontProxyName]),
    'requestheader-client-ca-file': frontProxy,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  };
  const configMaps = builtinType('ConfigMap');
  const metadata = { name: 'extension-apiserver-authentication', namespace };
  await ensure(client, configMaps, { metadata, data });
  await client.patch(configMaps, metadata, { type: 'merge', body: { data } });
  await ensure(client, configMaps, {
    metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace },
    data: { since: now.toISOString().slice(0, 10) },
  });
}

export async function ensure<T extends KubeObject>(client: Client, type: ResourceType, object: T): Promise<void> {
  try {
    await client.create(type, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** The range Services get their addresses from, as clients may ask for it. */
async function ensureServiceRange(client: Client): Promise<void> {
  const type = builtinType('ServiceCIDR', 'networking.k8s.io');
  const metadata = { name: 'kubernetes' };
  await ensure(client, type, { metadata, spec: { cidrs: [SERVICE_RANGE] } });
  const { creationTimestamp } = (await client.get(type, metadata)).metadata;
  const ready = { type: 'Ready', status: 'True', reason: '', message: '', lastTransitionTime: creationTimestamp };
  const body = { status: { conditions: [ready] } };
  await client.patch(type, metadata, { type: 'merge', body }, { subresource: 'status' });
}

/** The Service `default/kubernetes`, which leads to this server; its endpoints follow the port. */
export async function publishServer(
  client: Client,
  { serviceAddress, address, port }: { serviceAddress: string; address: string; port: number },
): Promise<void> {
  const metadata = {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  };
  const service = {
    metadata,
    spec: {
      type: 'ClusterIP',
      clusterIP: serviceAddress,
      clusterIPs: [serviceAddress],
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    },
  };
  await ensure(client, builtinType('Service'), service);
  const ports = [{ name: 'https', port, protocol: 'TCP' }];
  // Its slice is written right below; a mirror would be a second one.
  const labels = { ...metadata.labels, 'endpointslice.kubernetes.io/skip-mirror': 'true' };
  const endpoints = { metadata: { ...metadata, labels }, subsets: [{ addresses: [{ ip: address }], ports }] };
  await client.update(builtinType('Endpoints'), endpoints);
  const slice = {
    metadata: { ...metadata, labels: { ...metadata.labels, 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports,
  };
  const sliceType = builtinType('EndpointSlice', 'discovery.k8s.io');
  await ensure(client, sliceType, slice);
  await client.update(sliceType, slice);
}

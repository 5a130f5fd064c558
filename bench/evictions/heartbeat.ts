/** The node of the measurements has no kubelet; without a heartbeat its pods would be taken for lost after a minute. */
import { leaseType, namespaceType, nodeType } from '../../src/api/resource-types.ts';
import { type Client, isAlreadyExists } from '../../src/machinery/runtime/index.ts';

export const NODE = 'bench-node';
const LEASES = 'kube-node-lease';
const EVERY_MS = 10_000;

/** Makes the node, ready, and keeps it alive until the returned function is called. */
export async function keepNode(client: Client): Promise<() => void> {
  await ensure(client.create(nodeType, { metadata: { name: NODE } }));
  const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }];
  await client.patch(
    nodeType,
    { name: NODE },
    { type: 'merge', body: { status: { conditions } } },
    { subresource: 'status' },
  );
  await ensure(client.create(namespaceType, { metadata: { name: LEASES } }));
  const metadata = { name: NODE, namespace: LEASES };
  await ensure(client.create(leaseType, { metadata, spec: beat() }));
  let stopped = false;
  const timer = setInterval(() => {
    client.patch(leaseType, metadata, { type: 'merge', body: { spec: beat() } }).catch((error: unknown) => {
      // One that waited for a host that was held ends with the connection.
      if (!stopped) process.stderr.write(`the node's heartbeat failed: ${String(error)}\n`);
    });
  }, EVERY_MS);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

function beat(): { holderIdentity: string; leaseDurationSeconds: number; renewTime: string } {
  return { holderIdentity: NODE, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace('Z', '000Z') };
}

/** What is there already will do. */
export async function ensure(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** What the server answers, as tests look at it. */
import { podType } from '../../src/api/resource-types.ts';
import type { ClusterConnection } from '../../src/cli/shared/cluster.ts';
import { ApiError, type Client, readBody } from '../../src/machinery/runtime/index.ts';

/** The code of a refusal, or `granted`. */
export async function codeOf(request: Promise<unknown>, granted = 200): Promise<number> {
  try {
    await request;
    return granted;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

/** Asks for an eviction. */
export function evict(client: Client, namespace: string, name: string, more: object = {}): Promise<unknown> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, ...more };
  return client.createSubresource(podType, { namespace, name }, 'eviction', eviction);
}

/** Sends a request as it is: status and text of the answer. */
export async function ask(
  { transport }: ClusterConnection,
  method: string,
  path: string,
  body?: object,
): Promise<[number, string]> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await transport({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
  return [answer.status, (await readBody(answer.body)).toString()];
}

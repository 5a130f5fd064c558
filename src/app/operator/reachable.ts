/** Whether somebody answers where the API server is about to ask. */
import { request } from 'node:https';
import type { Client } from '../../machinery/runtime/index.ts';
import { type Reach, SERVICE, serviceNames } from '../../webhook/index.ts';

const PROBE_MS = 3000;

export interface ReachOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly authority: () => string;
  /** Of this replica's own webhook. */
  readonly port: () => number;
}

interface ServiceEndpoint {
  readonly addresses?: readonly string[];
  readonly conditions?: { ready?: boolean | null; terminating?: boolean | null };
}

interface EndpointSlices {
  /** Null, and not an empty list, where no pod is selected. */
  readonly items?: readonly { readonly endpoints?: readonly ServiceEndpoint[] | null }[];
}

/** Undefined where a review would be answered: a replica is ready there, and our authority vouches for it. */
export async function whatIsMissing(options: ReachOptions, reach: Reach): Promise<string | undefined> {
  const { client, namespace } = options;
  if ('url' in reach) return probe(`${new URL(reach.url).origin}/livez`, options.authority());
  const problem = await endpointProblem(client, namespace);
  if (problem !== undefined) return problem;
  // By the name that the API server asks for; the way there may be closed to pods.
  return probe(`https://127.0.0.1:${options.port()}/livez`, options.authority(), serviceNames(namespace)[2]);
}

/** Undefined where a replica is ready behind the Service. */
export async function endpointProblem(client: Client, namespace: string): Promise<string | undefined> {
  const ready = await readyEndpoints(client, namespace);
  return ready.length === 0 ? `Service ${namespace}/${SERVICE} has no ready endpoint` : undefined;
}

/** Those that reviews are sent to. */
export async function readyEndpoints(client: Client, namespace: string): Promise<ServiceEndpoint[]> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D${SERVICE}`;
  const { items = [] } = await client.request<EndpointSlices>('GET', path);
  return items
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false && conditions?.terminating !== true);
}

function probe(url: string, ca: string, servername?: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { ca, timeout: PROBE_MS, agent: false, ...(servername === undefined ? {} : { servername }) };
    const call = request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? undefined : `${url} answers ${response.statusCode}`);
    });
    call.once('timeout', () => call.destroy(new Error('no answer')));
    call.once('error', (error) => resolve(`${url}: ${error.message}`));
    call.end();
  });
}

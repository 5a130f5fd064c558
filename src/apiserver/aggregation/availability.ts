/** Whether the server behind an APIService can be asked, with the reasons that Kubernetes gives. */
import type { APIServiceCondition } from '../../api/generated/apiregistration-v1.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import { isAddress } from '../webhook-call/service-address.ts';
import type { RegisteredServer } from './aggregator.ts';
import type { Remote } from './remote.ts';

/** A check happens quickly, or has failed. */
const CHECK_MS = 5000;
const MAX_BYTES = 4 * 1024 * 1024;
const CHECKER = { username: 'system:kube-aggregator', groups: ['system:masters'] };

export type Availability = Pick<APIServiceCondition, 'message' | 'reason' | 'status'>;

export const LOCAL: Availability = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

export interface Checked {
  readonly verdict: Availability;
  /** The APIResourceList that it answered. */
  readonly document?: unknown;
}

export async function checkServer({ apiService, remote }: RegisteredServer, clock: Clock): Promise<Checked> {
  const { name, namespace, port } = remote.service;
  const service = `service/${name} in ${JSON.stringify(namespace)}`;
  const no = (reason: string, message: string): Checked => ({ verdict: { status: 'False', reason, message } });
  const found = remote.address();
  if (!isAddress(found)) {
    switch (found.problem) {
      case 'no-service':
        return no('ServiceNotFound', `${service} is not present`);
      case 'no-port':
        return no('ServicePortError', `${service} is not listening on port ${port}`);
      case 'no-slices':
        return no('EndpointsNotFound', `cannot find endpointslices for ${service}`);
      case 'no-endpoints': {
        const why = `have no addresses with port name ${JSON.stringify(found.portName)}`;
        return no('MissingEndpoints', `endpointslices for ${service} ${why}`);
      }
      case 'simulated-pods':
        return no(
          'FailedDiscoveryCheck',
          `no route to the pods of ${service}: pods of this control plane are simulated; give the service no selector and an EndpointSlice with the address of the API server`,
        );
      default:
        return no('FailedDiscoveryCheck', `${service} leads to ${found.at}, which is never asked`);
    }
  }
  const { group = '', version = '' } = apiService.spec ?? {};
  const path = `/apis/${group}/${version}`;
  const url = `https://${found.host.includes(':') ? `[${found.host}]` : found.host}:${found.port}${path}`;
  try {
    const { body, status } = await fetchFrom(remote, path, clock);
    if (status < 200 || status >= 300) throw new Error(`bad status from ${url}: ${status}`);
    const document = parsed(body);
    return { verdict: { status: 'True', reason: 'Passed', message: 'all checks passed' }, document };
  } catch (error) {
    return no('FailedDiscoveryCheck', `failing or missing response from ${url}: ${(error as Error).message}`);
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

/** What the server answers us, in our own name. */
export function fetchFrom(remote: Remote, path: string, clock: Clock): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const address = remote.address();
    if (!isAddress(address)) return reject(new Error('it has no address'));
    const call = remote.open(address, { method: 'GET', path, headers: { accept: 'application/json' }, user: CHECKER });
    const late = clock.after(CHECK_MS, () => call.destroy(new Error('context deadline exceeded')));
    call.on('error', (error) => {
      late();
      reject(error);
    });
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BYTES) call.destroy(new Error('the answer is too large'));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        late();
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') });
      });
    });
    call.end();
  });
}

import type { Pod } from '../api/generated/core-v1.ts';
import type { OwnerReference } from '../api/generated/meta-v1.ts';
import type { ProtectedOperation } from '../api/kruise/types.ts';
import { splitApiVersion } from '../api/resource.ts';
import { namespaceType } from '../api/resource-types.ts';
import { decideLeftover, type OwnerState, ownerInQuestion, ownerStateOf } from '../decisions/unavailability/index.ts';
import { ApiError, type Client, existing } from '../machinery/runtime/index.ts';

export interface LeftoverRequest {
  readonly namespace: string;
  readonly operation: ProtectedOperation;
  readonly username: string;
  readonly pod: Pod;
}

/**
 * Whether the request only clears away what is left of a service. Namespace and owner are read from the API server as
 * they are now; asked only where a budget would refuse.
 */
export async function isLeftover(client: Client, request: LeftoverRequest): Promise<boolean> {
  const { namespace, operation, pod, username } = request;
  const owner = ownerInQuestion(operation, username, pod);
  const [going, state] = await Promise.all([
    isGoing(client, namespace),
    owner && stateOf(client, { namespace, owner }),
  ]);
  return decideLeftover(going, state) !== undefined;
}

async function isGoing(client: Client, name: string): Promise<boolean> {
  try {
    return Boolean((await client.get(namespaceType, { name })).metadata.deletionTimestamp);
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** Unknown where the kind is not served or may not be read: such pods stay guarded. */
async function stateOf(
  client: Client,
  { namespace, owner }: { namespace: string; owner: OwnerReference },
): Promise<OwnerState> {
  const { group, version } = splitApiVersion(owner.apiVersion);
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  try {
    const { resources = [] } = await client.request<{ resources?: ServedResource[] }>('GET', root);
    const served = resources.find(({ kind, name }) => kind === owner.kind && !name.includes('/'));
    if (served === undefined) return 'Unknown';
    const { name: plural, namespaced } = served;
    const type = { group, version, kind: owner.kind, plural, namespaced };
    const key = { name: owner.name, ...(namespaced && { namespace }) };
    return ownerStateOf(owner, await existing(client.get(type, key)));
  } catch (error) {
    if (error instanceof ApiError) return 'Unknown';
    throw error;
  }
}

interface ServedResource {
  readonly kind: string;
  readonly name: string;
  readonly namespaced: boolean;
}

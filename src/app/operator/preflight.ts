import { downscalePodPickerType } from '../../api/quorate/downscale-pod-picker.ts';
import { disruptionLedgerType } from '../../api/quorate/types.ts';
import { type Client, type FeatureGates, isForbidden, isNotFound } from '../../machinery/runtime/index.ts';

/** The cluster lacks something without which nothing can be decided; the message says what to do. */
export class PreflightError extends Error {
  override name = 'PreflightError';
}

/** Checks, before anything is promised, that the cluster is reachable, has our kinds, and lets us read what we count. */
export async function preflight(client: Client, gates: FeatureGates): Promise<{ version: string }> {
  let version: string;
  try {
    ({ gitVersion: version } = await client.request<{ gitVersion: string }>('GET', '/version'));
  } catch (cause) {
    throw new PreflightError(`Cannot reach the API server: ${messageOf(cause)}`, { cause });
  }
  await mustRead(
    client,
    '/apis/policy.quorate.dev/v1alpha1/disruptionledgers',
    `${disruptionLedgerType.plural}.policy.quorate.dev`,
  );
  await mustRead(
    client,
    '/apis/policy.kruise.io/v1beta1/podunavailablebudgets',
    'podunavailablebudgets.policy.kruise.io',
  );
  if (gates.enabled('DownscalePodPicker')) {
    const { group, plural, version } = downscalePodPickerType;
    await mustRead(client, `/apis/${group}/${version}/${plural}`, `${plural}.${group}`);
  }
  for (const path of ['/api/v1/pods', '/apis/policy/v1/poddisruptionbudgets']) await mustRead(client, path, path);
  return { version };
}

async function mustRead(client: Client, path: string, what: string): Promise<void> {
  try {
    await client.request('GET', `${path}?limit=1`);
  } catch (cause) {
    if (isNotFound(cause)) {
      throw new PreflightError(
        `The cluster does not know ${what}: install the definitions with "quorate install | kubectl apply -f -"`,
        { cause },
      );
    }
    if (isForbidden(cause)) {
      throw new PreflightError(
        `Not allowed to list ${what}: ${messageOf(cause)}; "quorate install" prints the roles that are needed`,
        { cause },
      );
    }
    throw new PreflightError(`Cannot list ${what}: ${messageOf(cause)}`, { cause });
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

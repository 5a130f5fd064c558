import { POD_UNAVAILABLE_BUDGETS } from '../../api/kruise/types.ts';
import { downscalePodPickerType } from '../../api/quorate/downscale-pod-picker.ts';
import { disruptionLedgerType } from '../../api/quorate/types.ts';
import {
  deploymentType,
  jobType,
  nodeType,
  podDisruptionBudgetType,
  podType,
  replicaSetType,
  replicationControllerType,
  statefulSetType,
} from '../../api/resource-types.ts';
import { qualifiedResource, resourcePath } from '../../api/resource.ts';
import { type Client, type FeatureGates, isForbidden, isNotFound } from '../../machinery/runtime/index.ts';
import { NAMESPACE_ANNOTATION, WEBHOOK_CONFIGURATION } from '../../webhook/index.ts';
import { webhookConfigurationType } from './registration.ts';

/** The cluster lacks something without which nothing can be decided; the message says what to do. */
export class PreflightError extends Error {
  override name = 'PreflightError';
}

/** Checks, before anything is promised, that the cluster is reachable, has our kinds, and lets us read what we count. */
export async function preflight(
  client: Client,
  { gates, namespace }: { gates: FeatureGates; namespace: string },
): Promise<{ version: string }> {
  let version: string;
  try {
    ({ gitVersion: version } = await client.request<{ gitVersion: string }>('GET', '/version'));
  } catch (cause) {
    throw new PreflightError(`Cannot reach the API server: ${messageOf(cause)}`, { cause });
  }
  const optional = [
    ...(gates.enabled('PodWebhook') ? [POD_UNAVAILABLE_BUDGETS] : []),
    ...(gates.enabled('DownscalePodPicker') ? [downscalePodPickerType] : []),
  ];
  for (const type of [disruptionLedgerType, ...optional]) {
    await mustRead(client, resourcePath(type), qualifiedResource(type));
  }
  for (const type of READ) await mustRead(client, resourcePath(type), qualifiedResource(type));
  await mustBeAlone(client, namespace);
  return { version };
}

/** Without one of these the caches never fill, and nothing would ever be answered. */
const READ = [
  podType,
  nodeType,
  podDisruptionBudgetType,
  replicationControllerType,
  replicaSetType,
  deploymentType,
  statefulSetType,
  jobType,
];

/** There is one set of webhooks in a cluster, so a second installation would take it from the first. */
async function mustBeAlone(client: Client, namespace: string): Promise<void> {
  try {
    const { metadata, webhooks = [] } = await client.get(webhookConfigurationType, { name: WEBHOOK_CONFIGURATION });
    const other = [
      metadata.annotations?.[NAMESPACE_ANNOTATION],
      ...webhooks.map(({ clientConfig }) => clientConfig?.service?.namespace),
    ].find((one) => one !== undefined && one !== namespace);
    if (other !== undefined) {
      throw new PreflightError(
        `Another Quorate is installed in namespace "${other}" and this one runs in "${namespace}": remove one of them with "quorate uninstall --namespace NAME"`,
      );
    }
  } catch (error) {
    if (isNotFound(error)) return;
    if (isForbidden(error)) {
      const what = `validatingwebhookconfigurations "${WEBHOOK_CONFIGURATION}"`;
      throw new PreflightError(`Not allowed to read ${what}: "quorate install" prints the roles that are needed`, {
        cause: error,
      });
    }
    throw error;
  }
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

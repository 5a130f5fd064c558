/** Applies an installation and tells what it still waits for. */
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { type KubeObject, type ResourceType, splitApiVersion } from '../../api/resource.ts';
import { deploymentType, leaseType, podType } from '../../api/resource-types.ts';
import { type Client, type Clock, discover, existing, sleep } from '../../machinery/runtime/index.ts';
import {
  ARMED_ANNOTATION,
  type InstallOptions,
  installObjects,
  labels,
  type OperatorMode,
  NAME,
} from '../../webhook/index.ts';
import { endpointProblem } from './reachable.ts';
import { CONFIGURATIONS } from './registration.ts';

/** Something that an installation waits for, in the order in which one thing needs the other. */
export interface Awaited {
  readonly check: 'replicas' | 'service' | 'leader' | 'webhooks';
  readonly problem: string;
}

export interface InstallationOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly install: InstallOptions;
  readonly timeoutMs: number;
  readonly applied: (what: string) => void;
  /** Called when it waits for something else than before. */
  readonly waiting: (awaited: Awaited) => void;
}

const LOOK_MS = 1000;
const FIELD_MANAGER = 'quorate-install';

/**
 * Applies the manifests, whose webhook configurations are empty, and waits until a replica has filled them: before that
 * nothing in the cluster is asked about. Returns what was still missing in the end; the cluster is left as it was asked
 * to be, so that a replica which gets well later finishes the work.
 */
export async function installAndWait(options: InstallationOptions): Promise<Awaited | undefined> {
  const { client, clock, install, timeoutMs } = options;
  await applyInstallation(options);
  const endMs = clock.elapsed() + timeoutMs;
  let said = '';
  for (;;) {
    const awaited = await whatIsAwaited(client, install);
    if (awaited === undefined || clock.elapsed() >= endMs) return awaited;
    const text = `${awaited.check}: ${awaited.problem}`;
    if (text !== said) options.waiting(awaited);
    said = text;
    await sleep(clock, Math.min(LOOK_MS, timeoutMs));
  }
}

async function applyInstallation({ applied, client, install }: InstallationOptions): Promise<void> {
  const { resources } = await discover(client);
  for (const object of installObjects(install)) {
    const { apiVersion = '', kind = '', metadata } = object;
    const { group, version } = splitApiVersion(apiVersion);
    const type = resources.find((one) => one.group === group && one.version === version && one.kind === kind);
    if (type === undefined)
      throw new Error(`Cannot apply ${kind} "${metadata.name}": the cluster serves no ${kind} of ${apiVersion}`);
    const key = { name: metadata.name ?? '', ...(type.namespaced ? { namespace: metadata.namespace } : {}) };
    // What an earlier "kubectl apply" owns is the same installation's.
    const options = { fieldManager: FIELD_MANAGER, force: true };
    await client.patch(type as ResourceType<KubeObject>, key, { type: 'apply', body: object }, options);
    applied(`${kind.toLowerCase()}/${metadata.name}`);
  }
}

/** Undefined where a replica answers and the API server asks it. */
export async function whatIsAwaited(
  client: Client,
  { mode, namespace }: Pick<InstallOptions, 'mode' | 'namespace'>,
): Promise<Awaited | undefined> {
  const replicas = await awaitedReplicas(client, namespace);
  if (replicas !== undefined) return { check: 'replicas', problem: replicas };
  const service = await endpointProblem(client, namespace);
  if (service !== undefined) return { check: 'service', problem: service };
  const lease = await existing(client.get(leaseType, { namespace, name: NAME }));
  if (!lease?.spec?.holderIdentity) {
    return { check: 'leader', problem: `no replica leads: nobody holds Lease ${namespace}/${NAME}` };
  }
  const empty = await notArmed(client, mode);
  return empty.length === 0
    ? undefined
    : {
        check: 'webhooks',
        problem: `the leader has not filled ${empty.join(', ')} yet; its log says what it waits for`,
      };
}

async function notArmed(client: Client, mode: OperatorMode): Promise<string[]> {
  const names: string[] = [];
  for (const { modes, name, type } of CONFIGURATIONS) {
    if (modes !== undefined && !modes.includes(mode)) continue;
    const configuration = await existing(client.get(type, { name }));
    // One that older manifests have filled is in force as well.
    const isFilled = (configuration?.webhooks ?? []).length > 0;
    // Without budgets most have nothing to ask about; the one of a mode is never empty in it.
    const isKept = modes === undefined && configuration?.metadata.annotations?.[ARMED_ANNOTATION] !== undefined;
    if (!isFilled && !isKept) names.push(name);
  }
  return names;
}

async function awaitedReplicas(client: Client, namespace: string): Promise<string | undefined> {
  const deployment = await existing(client.get(deploymentType, { namespace, name: NAME }));
  if (deployment === undefined) return `there is no Deployment ${namespace}/${NAME}`;
  const rollout = rolloutProblem(deployment);
  if (rollout === undefined) return undefined;
  const { items } = await client.list(podType, { namespace, labelSelector: selectorOf(labels) });
  const [first] = items.flatMap((pod) => podProblem(pod) ?? []);
  return first === undefined ? rollout : `${rollout}; ${first}`;
}

/** What keeps a Deployment from being as its newest version asks; undefined where nothing does. */
export function rolloutProblem({ metadata, spec, status = {} }: Deployment): string | undefined {
  const { availableReplicas = 0, observedGeneration = 0, replicas = 0, updatedReplicas = 0 } = status;
  const wanted = spec?.replicas ?? 1;
  const failure = status.conditions?.find(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True');
  if (failure?.message) return `its pods cannot be made: ${failure.message}`;
  if (observedGeneration < (metadata.generation ?? 0)) return 'the Deployment has not been looked at yet';
  if (updatedReplicas < wanted) return `${updatedReplicas} of ${wanted} replicas are of this version`;
  if (replicas > updatedReplicas) return `${replicas - updatedReplicas} replicas of the version before still run`;
  return availableReplicas < wanted ? `${availableReplicas} of ${wanted} replicas are ready` : undefined;
}

/** What keeps a pod from being Ready, in the words of whoever knows; undefined where it is. */
export function podProblem({ metadata, status = {} }: Pod): string | undefined {
  const conditionOf = (wanted: string) => status.conditions?.find(({ type }) => type === wanted);
  if (conditionOf('Ready')?.status === 'True') return undefined;
  const said = (why: string): string => `pod ${metadata.name}: ${why}`;
  for (const { lastState, state } of status.containerStatuses ?? []) {
    const { message, reason } = state?.waiting ?? {};
    const ended = lastState?.terminated ?? state?.terminated;
    if (ended !== undefined && reason !== 'ImagePullBackOff') {
      return said(
        `it ended with code ${ended.exitCode}${ended.message ? `: ${ended.message.trim()}` : '; its log says why'}`,
      );
    }
    if (reason !== undefined) return said(`${reason}${message ? `: ${message}` : ''}`);
  }
  const scheduled = conditionOf('PodScheduled');
  if (scheduled?.status === 'False') return said(`not scheduled: ${scheduled.message ?? scheduled.reason}`);
  return said(
    status.phase === 'Running' ? 'it runs and is not ready; /readyz?verbose says why' : `it is ${status.phase}`,
  );
}

function selectorOf(wanted: Readonly<Record<string, string>>): string {
  return Object.entries(wanted)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

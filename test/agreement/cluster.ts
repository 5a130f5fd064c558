/** The real Kubernetes binaries with one replica of the operator; states are drawn into namespaces of their own. */
import { request } from 'node:https';
import { POD_UNAVAILABLE_BUDGETS } from '../../src/api/kruise/types.ts';
import { disruptionLedgerType } from '../../src/api/quorate/types.ts';
import type { KubeObject, ResourceType } from '../../src/api/resource.ts';
import { namespaceType, nodeType, podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import type { Operator } from '../../src/app/index.ts';
import { runComponents } from '../../src/app/run-components.ts';
import { unavailabilityGates } from '../../src/decisions/unavailability/index.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  defineController,
  FeatureGates,
  loadKubeconfig,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { PreemptionBudgets } from '../../src/scheduler/budgets.ts';
import type { OperatorMode, ReviewResponse } from '../../src/webhook/index.ts';
import * as stage from '../cluster/stage.ts';
import { findDisagreements } from './doors.ts';
import { type Agreement, build, clear, nodesOf } from './host.ts';
import { drawState } from './state.ts';

/** Owners of drawn pods do not exist, which a garbage collector would act on. */
const CONTROLLERS = 'serviceaccount-controller,namespace-controller';
const BUILT_IN = `${CONTROLLERS},disruption-controller`;
const FOLLOWED: readonly ResourceType[] = [
  podType,
  podDisruptionBudgetType,
  disruptionLedgerType,
  POD_UNAVAILABLE_BUDGETS,
] as ResourceType[];
/** Most of the time is spent waiting until a state has settled. */
const LANES = 4;
const QUIET_MS = 400;
const LONGEST_MS = 5000;
/** Doors read one after another while a cluster moves on; what they disagree about for good is a disagreement. */
const ATTEMPTS = 4;
const AGAIN_MS = 700;

export async function startClusterAgreement(mode: OperatorMode): Promise<Agreement> {
  const plane = await stage.startPlane({
    components: ['kube-controller-manager'],
    flags: {
      'kube-controller-manager': [`--controllers=${mode === 'replace' ? CONTROLLERS : BUILT_IN}`],
      'kube-apiserver': ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'],
    },
  });
  const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  const client = createClient({ transport: transport.send, userAgent: 'agreement' });
  await stage.prepareCluster(plane);
  const operator = await stage.startReplica(plane, 'only', mode);
  await stage.registerWebhooks(plane, operator, 'native', mode);
  let budgets: PreemptionBudgets | undefined;
  const host = { transportFor: () => transport.send, clock: systemClock, log: silentLogger };
  const components = runComponents(host, [
    defineController({
      name: 'budgets',
      deps(context) {
        budgets = new PreemptionBudgets(context, unavailabilityGates(new FeatureGates()));
        void budgets.follow();
      },
    }),
  ]);
  for (let lane = 0; lane < LANES; lane += 1)
    for (const name of nodesOf(lane)) await client.create(nodeType, { metadata: { name } });
  return {
    lanes: LANES,
    async ask(seed, lane = 0) {
      const nodes = nodesOf(lane);
      const namespace = `s${seed}`;
      const rest = (): Promise<void> => untilQuiet(client, namespace);
      const groupVersion = stage.groupVersion;
      const state = drawState(seed, { namespace, nodes, workloadRefs: false, groupVersion });
      await client.create(namespaceType, { metadata: { name: namespace } });
      await build(client, state, { namespace, nodes, rest });
      const preempts = (name: string): boolean => budgets?.open()([{ namespace, name }] as never) ?? true;
      const webhook = (name: string) => askWebhook(operator, { namespace, name });
      const asked = { client, clock: systemClock, namespace, nodes, state, preempts, webhook };
      let problems: string[] = [];
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        if (attempt > 0) await pause(AGAIN_MS);
        problems = await findDisagreements(asked);
        if (problems.length === 0) break;
      }
      await clear(client, state, { namespace, rest: () => Promise.resolve() });
      return problems.map((problem) => `seed ${seed}: ${problem}`);
    },
    async stop() {
      components.stop();
      await operator.stop();
      transport.close();
      await plane.stop();
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Nothing that budgets decide on has changed for a moment, and every budget was looked at. */
async function untilQuiet(client: Client, namespace: string): Promise<void> {
  const begin = Date.now();
  let seen = '';
  let since = begin;
  while (Date.now() - begin < LONGEST_MS) {
    const lists = await Promise.all(FOLLOWED.map(async (type) => (await client.list(type, { namespace })).items));
    const now = JSON.stringify(lists.flat().map(({ metadata }) => [metadata.uid, metadata.resourceVersion]));
    if (now !== seen) {
      seen = now;
      since = Date.now();
    } else if (Date.now() - since >= QUIET_MS && lists.flat().every(isObserved)) return;
    await pause(50);
  }
}

/** A budget that Kubernetes cannot count is never observed; then only quiet is waited for. */
function isObserved({ metadata, ...rest }: KubeObject): boolean {
  const { status } = rest as { status?: { observedGeneration?: number } };
  return metadata.generation === undefined || (status?.observedGeneration ?? 0) >= metadata.generation;
}

/** Asks the webhook itself, past the API server. */
function askWebhook(
  { authority, reviewPath, webhookPort }: Operator,
  { name, namespace }: { namespace: string; name: string },
): Promise<ReviewResponse> {
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'agreement',
      operation: 'CREATE',
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'eviction',
      namespace,
      name,
      userInfo: { username: 'admin' },
      object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } },
      dryRun: true,
    },
  });
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port: webhookPort,
        path: reviewPath('/validate-eviction'),
        method: 'POST',
        ca: authority,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          try {
            const text = Buffer.concat(chunks).toString('utf8');
            resolve((JSON.parse(text) as { response: ReviewResponse }).response);
          } catch (error) {
            reject(error as Error);
          }
        });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

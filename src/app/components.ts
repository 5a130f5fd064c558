/** Every controller of the embedded control plane, in one place. */
import type { Node } from '../api/generated/core-v1.ts';
import { POD_UNAVAILABLE_BUDGETS } from '../api/kruise/types.ts';
import { kruiseLeaderWorkerSetType, leaderWorkerSetType } from '../api/lws/types.ts';
import type { ResourceType } from '../api/resource.ts';
import { systemAdmin } from '../apiserver/index.ts';
import { clusterRoleAggregationController } from '../controllers/kubernetes/cluster-role-aggregation/index.ts';
import { cronJobController } from '../controllers/kubernetes/cronjob/index.ts';
import { daemonSetController } from '../controllers/kubernetes/daemonset/index.ts';
import { endpointSliceController } from '../controllers/kubernetes/endpoint-slice/index.ts';
import { endpointSliceMirroringController } from '../controllers/kubernetes/endpoint-slice-mirroring/index.ts';
import { endpointsController } from '../controllers/kubernetes/endpoints/index.ts';
import { eventTtlController } from '../controllers/kubernetes/event-ttl/index.ts';
import { garbageCollector } from '../controllers/kubernetes/garbage-collector/index.ts';
import { createDeploymentController } from '../controllers/kubernetes/deployment/index.ts';
import {
  kruiseLeaderWorkerSetController,
  leaderWorkerSetController,
} from '../controllers/kubernetes/leader-worker-set/index.ts';
import { horizontalPodAutoscalerController } from '../controllers/kubernetes/horizontal-pod-autoscaler/index.ts';
import { createJobController } from '../controllers/kubernetes/job/index.ts';
import { namespaceController } from '../controllers/kubernetes/namespace/index.ts';
import { createNodeLifecycleController } from '../controllers/kubernetes/node-lifecycle/index.ts';
import { podGcController } from '../controllers/kubernetes/pod-gc/index.ts';
import {
  createReplicaSetController,
  createReplicationControllerController,
  type ReplicaControllerOptions,
} from '../controllers/kubernetes/replicaset/index.ts';
import { resourceQuotaController } from '../controllers/kubernetes/resource-quota/index.ts';
import { createRootCaController } from '../controllers/kubernetes/root-ca/index.ts';
import { serviceAccountController } from '../controllers/kubernetes/service-account/index.ts';
import {
  createServiceAccountTokenController,
  type TokenControllerOptions,
} from '../controllers/kubernetes/service-account-tokens/index.ts';
import { statefulSetController } from '../controllers/kubernetes/statefulset/index.ts';
import {
  claimProtectionController,
  volumeProtectionController,
} from '../controllers/kubernetes/volume-protection/index.ts';
import { taintEvictionController } from '../controllers/kubernetes/taint-eviction/index.ts';
import { ttlAfterFinishedController } from '../controllers/kubernetes/ttl-after-finished/index.ts';
import { type HistoryOptions, ownControllers } from '../controllers/quorate/index.ts';
import type { RoomJudge } from '../decisions/disruption/index.ts';
import { type Controller, FeatureGates } from '../machinery/runtime/index.ts';
import { POWER } from '../nodes/index.ts';
import { createScheduler } from '../scheduler/index.ts';
import { yielding } from './yielding.ts';

export interface ComponentOptions {
  /** PEM certificate published to every namespace as `kube-root-ca.crt`. */
  readonly authority: string;
  /** Makes tokens of service accounts that do not end; without it Secrets that ask for one are left as they are. */
  readonly issueToken?: TokenControllerOptions['issue'] | undefined;
  readonly gates?: FeatureGates | undefined;
  /** `kruise`: PodUnavailableBudgets with OpenKruise's quirks instead of the safer rules. */
  readonly compat?: 'kruise' | undefined;
  readonly pickers?: PickerOptions | undefined;
  readonly history?: HistoryOptions | undefined;
  /** Where nodes need not tell that they live: whether one does. */
  readonly isAlive?: ((node: Node) => boolean) | undefined;
  /** How long budgets gather what approved evictions bring about before they write it. Default: not at all. */
  readonly debounceMs?: number | undefined;
  /** How long groups must have been unresolved before a budget that counted them counts pods. Default 30 s. */
  readonly settlingMs?: number | undefined;
  /** Who knows whether units find places. */
  readonly room?: (() => RoomJudge | undefined) | undefined;
}

/** Where pod pickers may live, and whose certificates they may show. */
export type PickerOptions = Pick<ReplicaControllerOptions, 'pickerAddresses' | 'pickerCertificates'>;

export function embeddedComponents(options: ComponentOptions): Controller[] {
  const { authority, compat, gates = new FeatureGates(), debounceMs, history, issueToken, pickers } = options;
  const { room, settlingMs } = options;
  return [
    namespaceController,
    serviceAccountController,
    createRootCaController(authority),
    ...(issueToken === undefined ? [] : [createServiceAccountTokenController({ authority, issue: issueToken })]),
    clusterRoleAggregationController,
    garbageCollector,
    endpointsController,
    endpointSliceController,
    endpointSliceMirroringController,
    resourceQuotaController,
    ttlAfterFinishedController,
    eventTtlController,
    createNodeLifecycleController(options.isAlive),
    taintEvictionController,
    podGcController,
    claimProtectionController,
    volumeProtectionController,
    ...ownControllers('embedded', {
      gates,
      serves: () => true,
      disruption: { debounceMs, settlingMs, room },
      unavailability: { compat: compat === 'kruise', debounceMs, room },
      history: { isOurs: (who) => who === systemAdmin.username, ...history },
      // Whoever is called is held to the rules of pod pickers, and to what was allowed for them.
      noticeAddresses: pickers?.pickerAddresses,
      noticeCertificates: pickers?.pickerCertificates,
    }),
    createReplicaSetController({ gates, ...pickers }),
    createReplicationControllerController(),
    statefulSetController,
    daemonSetController,
    createJobController({ gates }),
    cronJobController,
    createDeploymentController({ gates }),
    leaderWorkerSetController,
    kruiseLeaderWorkerSetController,
    horizontalPodAutoscalerController,
    createScheduler({ gates }),
  ].map((controller) => {
    const type = KEEPS.get(controller.name);
    return type === undefined ? controller : yielding(type, controller);
  });
}

/** Controllers of kinds that other software brings too. */
const KEEPS: ReadonlyMap<string, ResourceType> = new Map<string, ResourceType>([
  ['pod-unavailable-budget', POD_UNAVAILABLE_BUDGETS as ResourceType],
  [leaderWorkerSetController.name, leaderWorkerSetType as ResourceType],
  [kruiseLeaderWorkerSetController.name, kruiseLeaderWorkerSetType as ResourceType],
]);

/** Nobody asks about them where time is simulated, and each looks at every pod. */
const NOT_PLAYED: ReadonlySet<Controller> = new Set([
  serviceAccountController,
  clusterRoleAggregationController,
  endpointsController,
  endpointSliceController,
  endpointSliceMirroringController,
  eventTtlController,
  claimProtectionController,
  volumeProtectionController,
  horizontalPodAutoscalerController,
]);

/**
 * The controllers that decide what becomes of pods, without a record of what became of them. A thousand nodes that tell
 * every few seconds that they live would be most of the work: who has power lives.
 */
export function simulatedComponents(): Controller[] {
  const gates = new FeatureGates({ DisruptionHistory: false });
  const isAlive = ({ metadata }: Node): boolean => metadata.annotations?.[POWER] !== 'off';
  return embeddedComponents({ authority: '', gates, isAlive }).filter((controller) => !NOT_PLAYED.has(controller));
}

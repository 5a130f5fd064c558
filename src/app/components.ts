/** Every controller of the embedded control plane, in one place. */
import { startClusterRoleAggregationController } from '../controllers/cluster-role-aggregation/index.ts';
import { startCronJobController } from '../controllers/cronjob/index.ts';
import { startDaemonSetController } from '../controllers/daemonset/index.ts';
import { startEndpointSliceController } from '../controllers/endpoint-slice/index.ts';
import { startEndpointSliceMirroringController } from '../controllers/endpoint-slice-mirroring/index.ts';
import { startEndpointsController } from '../controllers/endpoints/index.ts';
import { startEventTtlController } from '../controllers/event-ttl/index.ts';
import { startGarbageCollector } from '../controllers/garbage-collector/index.ts';
import { createDeploymentController } from '../controllers/deployment/index.ts';
import { createDisruptionController } from '../controllers/disruption/index.ts';
import { startLeaderWorkerSetController } from '../controllers/leader-worker-set/index.ts';
import { createGroupEvictionController } from '../controllers/group-eviction/index.ts';
import { startHorizontalPodAutoscalerController } from '../controllers/horizontal-pod-autoscaler/index.ts';
import { createJobController } from '../controllers/job/index.ts';
import { startNamespaceController } from '../controllers/namespace/index.ts';
import { startNodeLifecycleController } from '../controllers/node-lifecycle/index.ts';
import { createPodGroupController } from '../controllers/pod-group/index.ts';
import { startPodGcController } from '../controllers/pod-gc/index.ts';
import { createPodUnavailableBudgetController } from '../controllers/pod-unavailable-budget/index.ts';
import {
  createReplicaSetController,
  createReplicationControllerController,
  type ReplicaControllerOptions,
} from '../controllers/replicaset/index.ts';
import { startResourceQuotaController } from '../controllers/resource-quota/index.ts';
import { rootCaController } from '../controllers/root-ca/index.ts';
import { startServiceAccountController } from '../controllers/service-account/index.ts';
import { startStatefulSetController } from '../controllers/statefulset/index.ts';
import { startTaintEvictionController } from '../controllers/taint-eviction/index.ts';
import { startTtlAfterFinishedController } from '../controllers/ttl-after-finished/index.ts';
import type { FeatureGates, StartController } from '../machinery/runtime/index.ts';
import { startScheduler } from '../scheduler/index.ts';

export interface ComponentOptions {
  /** PEM certificate published to every namespace as `kube-root-ca.crt`. */
  readonly authority: string;
  readonly gates?: FeatureGates | undefined;
  /** `kruise`: PodUnavailableBudgets with OpenKruise's quirks instead of the safer rules. */
  readonly compat?: 'kruise' | undefined;
  readonly pickers?: PickerOptions | undefined;
  /** How long budgets gather what approved evictions bring about before they write it. Default: not at all. */
  readonly gatherMs?: number | undefined;
  /** How long groups must have been unresolved before a budget that counted them counts pods. Default 30 s. */
  readonly settlingMs?: number | undefined;
}

/** Where pod pickers may live, and whose certificates they may show. */
export type PickerOptions = Pick<ReplicaControllerOptions, 'pickerAddresses' | 'pickerCertificates'>;

export function embeddedComponents(options: ComponentOptions): StartController[] {
  const { authority, compat, gates, gatherMs, pickers, settlingMs } = options;
  return [
    startNamespaceController,
    startServiceAccountController,
    rootCaController(authority),
    startClusterRoleAggregationController,
    startGarbageCollector,
    startEndpointsController,
    startEndpointSliceController,
    startEndpointSliceMirroringController,
    startResourceQuotaController,
    startTtlAfterFinishedController,
    startEventTtlController,
    (context) => startNodeLifecycleController(context),
    startTaintEvictionController,
    (context) => startPodGcController(context),
    ...(gates?.enabled('PodDisruptionBudget') === false ? [] : [createDisruptionController({ gatherMs, settlingMs })]),
    createReplicaSetController({ gates, ...pickers }),
    createReplicationControllerController(),
    startStatefulSetController,
    startDaemonSetController,
    createJobController(gates === undefined ? {} : { gates }),
    startCronJobController,
    createDeploymentController({ gates }),
    createPodGroupController(),
    startLeaderWorkerSetController,
    createPodUnavailableBudgetController({ compat: compat === 'kruise', gatherMs }),
    createGroupEvictionController(),
    startHorizontalPodAutoscalerController,
    (context) => startScheduler(context, { gates }),
  ];
}

import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import { EVICTED, type GroupEviction, groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { isFinished, type Maintenance, maintenanceType } from '../../../api/quorate/maintenance.ts';
import { READ, rule } from '../../../api/policy-rule.ts';
import { keyOf, type ResourceType } from '../../../api/resource.ts';
import { nodeType, podType } from '../../../api/resource-types.ts';
import { RecoveryReader } from '../../../cluster-state/recoveries.ts';
import { type Controller, defineController, watch, type Wakes } from '../../../machinery/runtime/index.ts';
import type { OwnController } from '../own-controller.ts';
import { indexByNode } from '../../shared/pods-by-node.ts';
import { BY_MAINTENANCE, type MaintenanceDeps } from './deps.ts';
import { countMaintenances } from './metrics.ts';
import { reconcileMaintenance } from './reconcile.ts';

/** What happens to many pods of a node at once is looked at once. */
const GATHER_MS = 100;

/** Carries out Maintenances: plans, claims and cordons, lets groups go step by step, and says how far it is. */
export function createMaintenanceController({ groupEvictions = true } = {}): Controller {
  return defineController<MaintenanceDeps>({
    name: 'maintenance',
    deps: ({ client, clock, eventsFor, informers, metrics, random }) => {
      const pods = informers.of(podType);
      indexByNode(pods);
      const maintenances = informers.of(maintenanceType);
      const evictions = groupEvictions ? informers.of(groupEvictionType) : undefined;
      evictions?.addIndex(BY_MAINTENANCE, (one) => (isTold(one) ? [one.spec?.cause?.name ?? ''] : []));
      return {
        client,
        clock,
        random,
        events: eventsFor('maintenance'),
        maintenances,
        nodes: informers.of(nodeType),
        pods,
        groupEvictions,
        evictions,
        countBlocked: countMaintenances(metrics, maintenances),
        recoveries: new RecoveryReader(client),
        memories: new Map(),
      };
    },
    watches: (deps) => {
      const concerned = (name: string): Wakes =>
        deps.maintenances
          .list()
          .filter((one) => !isFinished(one) && one.status?.nodes?.some((node) => node.name === name) === true)
          .map((one) => ({ key: keyOf(one), afterMs: GATHER_MS }));
      const ofNode = ({ metadata }: Node): Wakes => concerned(metadata.name ?? '');
      const ofPod = ({ spec }: Pod): Wakes => (spec?.nodeName ? concerned(spec.nodeName) : undefined);
      const ofEviction = ({ spec }: GroupEviction): Wakes =>
        spec?.cause?.kind === maintenanceType.kind ? spec.cause.name : undefined;
      return [
        ...(deps.evictions === undefined ? [] : [watch(deps.evictions, ofEviction)]),
        watch(deps.maintenances, (one: Maintenance) => keyOf(one)),
        watch(deps.nodes, ofNode),
        watch(deps.pods, {
          added: (pod, initial) => (initial ? undefined : ofPod(pod)),
          updated: ofPod,
          deleted: ofPod,
        }),
      ];
    },
    reconcile: reconcileMaintenance,
    backOff: { maxDelayMs: 15_000 },
  });
}

/** Its group is told for a Maintenance, and nobody has taken that back. */
function isTold({ metadata, spec, status }: GroupEviction): boolean {
  const isOver = status?.conditions?.some(({ type }) => type === EVICTED) === true;
  const isTakenBack = spec?.intent === 'Withdrawn' || metadata.deletionTimestamp !== undefined;
  const isNoticed = status?.notice !== undefined || status?.joined !== undefined;
  return spec?.cause?.kind === maintenanceType.kind && isNoticed && !isOver && !isTakenBack;
}

export const maintenance: OwnController = {
  hosts: { embedded: 'Maintenance', operator: 'Maintenance' },
  needs: maintenanceType as ResourceType,
  feature: 'maintenances',
  rights: [
    // Claims, cordons and conditions of nodes; evictions, judged like anybody's.
    rule([''], ['nodes'], ['patch']),
    rule([''], ['nodes/status'], ['patch']),
    rule([''], ['pods/eviction'], ['create']),
    // Where what goes would find room.
    rule([''], ['persistentvolumes', 'persistentvolumeclaims'], READ),
    rule(
      ['storage.k8s.io'],
      ['storageclasses', 'csinodes', 'csidrivers', 'csistoragecapacities', 'volumeattachments'],
      READ,
    ),
    rule(['resource.k8s.io'], ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'], READ),
  ],
  // Groups go whole where they can; elsewhere their pods are evicted one by one.
  rightsWith: { groupEvictions: [rule(['policy.quorate.dev'], ['groupevictions'], ['create', 'delete', 'patch'])] },
  create: ({ gates, serves }) =>
    createMaintenanceController({ groupEvictions: gates.enabled('GroupEviction') && serves(groupEvictionType) }),
};

import type { Condition } from '../generated/meta-v1.ts';
import type * as alpha1 from '../generated/scheduling-v1alpha1.ts';
import type * as alpha2 from '../generated/scheduling-v1alpha2.ts';
import type * as beta1 from '../generated/scheduling-v1beta1.ts';
import {
  INITIALLY_SCHEDULED,
  SCHEDULED,
  SCHEDULING_GROUP,
  type SchedulingVersion,
  type StoredPodGroup,
  type StoredPodGroupSpec,
} from './stored.ts';

type Served = alpha1.PodGroup | alpha2.PodGroup | beta1.PodGroup;

/** v1alpha1 gives the success of a gang its own reason. */
const DRAFT_REASON = 'MinCountSatisfied';
const REASON = 'Scheduled';

function renameConditions(
  conditions: readonly Condition[] | undefined,
  { from, to, reason }: { from: string; to: string; reason: readonly [from: string, to: string] },
): Condition[] | undefined {
  return conditions?.map((condition) =>
    condition.type !== from
      ? condition
      : { ...condition, type: to, ...(condition.reason === reason[0] && { reason: reason[1] }) },
  );
}

const has = (conditions: readonly Condition[] | undefined, wanted: string): boolean =>
  conditions?.some(({ type }) => type === wanted) ?? false;

/** Properties set to undefined are left out, so that what was absent stays absent. */
function present<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

const toDisruptionMode = (mode: string | undefined): beta1.DisruptionMode | undefined =>
  mode === undefined ? undefined : mode === 'PodGroup' ? { all: {} } : mode === 'Pod' ? { single: {} } : {};

const fromDisruptionMode = (mode: beta1.DisruptionMode | undefined): string | undefined =>
  mode === undefined ? undefined : mode.all === undefined ? 'Pod' : 'PodGroup';

/** Reads a PodGroup of any version. What the version cannot say is absent; see `carryPodGroup` for updates. */
export function storedPodGroup(served: Served, version: SchedulingVersion): StoredPodGroup {
  const stored = { ...served, apiVersion: `${SCHEDULING_GROUP}/v1beta1` } as StoredPodGroup;
  const { status } = served as alpha1.PodGroup & beta1.PodGroup;
  const older = { from: SCHEDULED, to: INITIALLY_SCHEDULED };
  switch (version) {
    case 'v1beta1':
      stored.spec = { ...(served as beta1.PodGroup).spec };
      break;
    case 'v1alpha2':
      stored.spec = present(specFromAlpha2((served as alpha2.PodGroup).spec));
      if (status !== undefined) {
        const conditions = renameConditions(status.conditions, { ...older, reason: [REASON, REASON] });
        stored.status = present({ ...status, conditions });
      }
      break;
    case 'v1alpha1':
      stored.spec = specFromAlpha1((served as alpha1.PodGroup).spec);
      if (status !== undefined) {
        // With both beside each other, the one follows the group and the other tells of its first time.
        const conditions = has(status.conditions, INITIALLY_SCHEDULED)
          ? status.conditions
          : renameConditions(status.conditions, { ...older, reason: [DRAFT_REASON, REASON] });
        stored.status = present({ ...status, conditions });
      }
      break;
  }
  return stored;
}

function specFromAlpha2(spec: alpha2.PodGroupSpec | undefined): StoredPodGroupSpec {
  const { disruptionMode, podGroupTemplateRef, ...rest } = spec ?? ({} as Partial<alpha2.PodGroupSpec>);
  const link = podGroupTemplateRef?.workload;
  return {
    ...rest,
    disruptionMode: toDisruptionMode(disruptionMode),
    workloadRef: link && { workloadName: link.workloadName, templateName: link.podGroupTemplateName },
  };
}

function specFromAlpha1(spec: alpha1.PodGroupSpec | undefined): StoredPodGroupSpec {
  const { podGroupTemplateName, podGroupTemplateRef, workloadRef } = spec ?? {};
  if (workloadRef === undefined && !podGroupTemplateName && podGroupTemplateRef === undefined) return {};
  const { name, ...reference } = workloadRef ?? {};
  const draft = present({
    workloadRef: Object.keys(reference).length > 0 ? reference : undefined,
    templateByRef: (!podGroupTemplateName && podGroupTemplateRef !== undefined) || undefined,
  });
  return present({
    workloadRef: { workloadName: name ?? '', templateName: podGroupTemplateName || podGroupTemplateRef?.name || '' },
    draft: Object.keys(draft).length > 0 ? draft : undefined,
  });
}

/** Writes a stored PodGroup as one version spells it. */
export function servedPodGroup(stored: StoredPodGroup, version: SchedulingVersion): Served {
  const apiVersion = `${SCHEDULING_GROUP}/${version}`;
  const { draft, ...spec } = stored.spec;
  const { scheduledPods, ...status } = stored.status ?? {};
  const older = { from: INITIALLY_SCHEDULED, to: SCHEDULED };
  switch (version) {
    case 'v1beta1':
      return present({ ...stored, apiVersion, spec, status: stored.status && status }) as beta1.PodGroup;
    case 'v1alpha2': {
      const {
        disruptionMode,
        parentCompositePodGroupName: _parent,
        preemptionPolicy: _policy,
        workloadRef,
        ...rest
      } = spec;
      const workload = workloadRef && {
        workloadName: workloadRef.workloadName,
        podGroupTemplateName: workloadRef.templateName,
      };
      return present({
        ...stored,
        apiVersion,
        spec: present({
          ...rest,
          podGroupTemplateRef: workload && { workload },
          disruptionMode: fromDisruptionMode(disruptionMode),
        }),
        status:
          stored.status &&
          present({
            ...status,
            conditions: renameConditions(
              // In v1.36 the name means the first time, so the condition that follows the group has no place.
              status.conditions?.filter(({ type }) => type !== SCHEDULED),
              { ...older, reason: [REASON, REASON] },
            ),
          }),
      }) as alpha2.PodGroup;
    }
    case 'v1alpha1': {
      const { workloadRef } = spec;
      const template = workloadRef?.templateName || undefined;
      return present({
        ...stored,
        apiVersion,
        spec: present({
          workloadRef: workloadRef && { ...draft?.workloadRef, name: workloadRef.workloadName },
          podGroupTemplateName: draft?.templateByRef ? undefined : template,
          podGroupTemplateRef: draft?.templateByRef && template ? { name: template } : undefined,
        }),
        status:
          stored.status &&
          present({
            scheduledPods,
            conditions: has(status.conditions, SCHEDULED)
              ? status.conditions
              : renameConditions(status.conditions, { ...older, reason: [REASON, DRAFT_REASON] }),
          }),
      }) as alpha1.PodGroup;
    }
  }
}

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

/** Properties set to undefined are left out, so that what was absent stays absent. */
function present<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

const toDisruptionMode = (mode: string | undefined): beta1.DisruptionMode | undefined =>
  mode === undefined ? undefined : mode === 'PodGroup' ? { all: {} } : mode === 'Pod' ? { single: {} } : {};

const fromDisruptionMode = (mode: beta1.DisruptionMode | undefined): string | undefined =>
  mode === undefined ? undefined : mode.all === undefined ? 'Pod' : 'PodGroup';

/**
 * Reads a PodGroup of any version. `existing` is the stored object an update replaces: what the version cannot say is
 * taken from it.
 */
export function storedPodGroup(served: Served, version: SchedulingVersion, existing?: StoredPodGroup): StoredPodGroup {
  const stored = { ...served, apiVersion: `${SCHEDULING_GROUP}/v1beta1` } as StoredPodGroup;
  const kept = existing?.spec;
  switch (version) {
    case 'v1beta1': {
      const { spec, status } = served as beta1.PodGroup;
      stored.spec = present({ ...spec, draft: spec?.workloadRef === undefined ? undefined : kept?.draft });
      stored.status = present({ ...status, scheduledPods: existing?.status?.scheduledPods });
      break;
    }
    case 'v1alpha2': {
      const { spec, status } = served as alpha2.PodGroup;
      stored.spec = present(specFromAlpha2(spec, kept));
      stored.status = present({
        ...status,
        conditions: renameConditions(status?.conditions, {
          from: SCHEDULED,
          to: INITIALLY_SCHEDULED,
          reason: [REASON, REASON],
        }),
        scheduledPods: existing?.status?.scheduledPods,
      });
      break;
    }
    case 'v1alpha1': {
      const { spec, status } = served as alpha1.PodGroup;
      stored.spec = present(specFromAlpha1(spec, kept));
      stored.status = present({
        ...status,
        conditions: renameConditions(status?.conditions, {
          from: SCHEDULED,
          to: INITIALLY_SCHEDULED,
          reason: [DRAFT_REASON, REASON],
        }),
        resourceClaimStatuses: existing?.status?.resourceClaimStatuses,
      });
      break;
    }
  }
  return stored;
}

function specFromAlpha2(
  spec: alpha2.PodGroupSpec | undefined,
  kept: StoredPodGroupSpec | undefined,
): StoredPodGroupSpec {
  const { disruptionMode, podGroupTemplateRef, ...rest } = spec ?? ({} as Partial<alpha2.PodGroupSpec>);
  const link = podGroupTemplateRef?.workload;
  return {
    ...rest,
    disruptionMode: toDisruptionMode(disruptionMode),
    workloadRef: link && { workloadName: link.workloadName, templateName: link.podGroupTemplateName },
    draft: link && kept?.draft,
    parentCompositePodGroupName: kept?.parentCompositePodGroupName,
    preemptionPolicy: kept?.preemptionPolicy,
  };
}

function specFromAlpha1(
  spec: alpha1.PodGroupSpec | undefined,
  kept: StoredPodGroupSpec | undefined,
): StoredPodGroupSpec {
  const { podGroupTemplateName, podGroupTemplateRef, workloadRef } = spec ?? {};
  const { draft: _draft, workloadRef: _workloadRef, ...others } = kept ?? {};
  if (workloadRef === undefined && podGroupTemplateName === undefined && podGroupTemplateRef === undefined)
    return others;
  const { name, ...reference } = workloadRef ?? {};
  const templateByRef = !podGroupTemplateName && podGroupTemplateRef !== undefined;
  const draft = present({
    workloadRef: Object.keys(reference).length > 0 ? reference : undefined,
    templateByRef: templateByRef || undefined,
  });
  return {
    ...others,
    workloadRef: { workloadName: name ?? '', templateName: podGroupTemplateName || podGroupTemplateRef?.name || '' },
    draft: Object.keys(draft).length > 0 ? draft : undefined,
  };
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
            conditions: renameConditions(status.conditions, { ...older, reason: [REASON, REASON] }),
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
            conditions: renameConditions(status.conditions, { ...older, reason: [REASON, DRAFT_REASON] }),
          }),
      }) as alpha1.PodGroup;
    }
  }
}

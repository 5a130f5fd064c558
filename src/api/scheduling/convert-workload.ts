import type * as alpha1 from '../generated/scheduling-v1alpha1.ts';
import type * as alpha2 from '../generated/scheduling-v1alpha2.ts';
import type * as beta1 from '../generated/scheduling-v1beta1.ts';
import {
  SCHEDULING_GROUP,
  type SchedulingVersion,
  type StoredTemplate,
  type StoredWorkload,
  type StoredWorkloadSpec,
} from './stored.ts';

type Served = alpha1.Workload | alpha2.Workload | beta1.Workload;

function present<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

/**
 * Reads a Workload of any version. `existing` is the stored object an update replaces: what the version cannot say is
 * taken from it, template by template.
 */
export function storedWorkload(served: Served, version: SchedulingVersion, existing?: StoredWorkload): StoredWorkload {
  const stored = { ...served, apiVersion: `${SCHEDULING_GROUP}/v1beta1` } as StoredWorkload;
  const kept = new Map(existing?.spec.podGroupTemplates?.map((template) => [template.name, template]));
  switch (version) {
    case 'v1beta1': {
      const spec = (served as beta1.Workload).spec ?? {};
      stored.spec = present({
        ...spec,
        podGroupTemplates: spec.podGroupTemplates?.map((template) =>
          present({ ...template, replicas: kept.get(template.name)?.replicas }),
        ),
        draftList: existing?.spec.draftList,
      });
      break;
    }
    case 'v1alpha2': {
      const { controllerRef, podGroupTemplates } = (served as alpha2.Workload).spec ?? {};
      stored.spec = present({
        controllerRef,
        podGroupTemplates: podGroupTemplates?.map(({ disruptionMode, ...template }) => {
          const { preemptionPolicy, replicas } = kept.get(template.name) ?? ({} as Partial<StoredTemplate>);
          return present({
            ...template,
            disruptionMode: disruptionMode === undefined ? undefined : modeFromText(disruptionMode),
            preemptionPolicy,
            replicas,
          });
        }),
        compositePodGroupTemplates: existing?.spec.compositePodGroupTemplates,
        draftList: existing?.spec.draftList,
      });
      break;
    }
    case 'v1alpha1':
      stored.spec = specFromAlpha1((served as alpha1.Workload).spec, existing?.spec, kept);
      break;
  }
  return stored;
}

const modeFromText = (mode: string): beta1.DisruptionMode =>
  mode === 'PodGroup' ? { all: {} } : mode === 'Pod' ? { single: {} } : {};

function specFromAlpha1(
  spec: alpha1.WorkloadSpec | undefined,
  existing: StoredWorkloadSpec | undefined,
  kept: ReadonlyMap<string, StoredTemplate>,
): StoredWorkloadSpec {
  const { controllerRef, podGroupTemplates, podGroups } = spec ?? {};
  const draftList = podGroups === undefined && podGroupTemplates !== undefined;
  const entries = podGroups ?? podGroupTemplates;
  const onlyComposites = entries === undefined && existing?.compositePodGroupTemplates !== undefined;
  return present({
    controllerRef,
    podGroupTemplates: onlyComposites
      ? undefined
      : entries?.map(({ name, policy, replicas }) =>
          present({ ...kept.get(name), name, schedulingPolicy: policy, replicas } as StoredTemplate),
        ),
    compositePodGroupTemplates: existing?.compositePodGroupTemplates,
    draftList: draftList || undefined,
  });
}

/** Writes a stored Workload as one version spells it. */
export function servedWorkload(stored: StoredWorkload, version: SchedulingVersion): Served {
  const apiVersion = `${SCHEDULING_GROUP}/${version}`;
  const { compositePodGroupTemplates, controllerRef, draftList, podGroupTemplates } = stored.spec;
  switch (version) {
    case 'v1beta1': {
      const templates = podGroupTemplates?.map(({ replicas: _replicas, ...template }) => template);
      const spec = present({ controllerRef, podGroupTemplates: templates, compositePodGroupTemplates });
      return { ...stored, apiVersion, spec };
    }
    case 'v1alpha2': {
      const templates = podGroupTemplates?.map(
        ({ disruptionMode, preemptionPolicy: _policy, replicas: _replicas, ...template }) =>
          present({
            ...template,
            disruptionMode: disruptionMode && (disruptionMode.all === undefined ? 'Pod' : 'PodGroup'),
          }),
      );
      return { ...stored, apiVersion, spec: present({ controllerRef, podGroupTemplates: templates ?? [] }) };
    }
    case 'v1alpha1': {
      const entries = podGroupTemplates?.map(({ name, replicas, schedulingPolicy }) =>
        present({ name, policy: schedulingPolicy, replicas }),
      );
      const lists = draftList ? { podGroupTemplates: entries } : { podGroups: entries };
      return { ...stored, apiVersion, spec: present({ controllerRef, ...lists }) };
    }
  }
}

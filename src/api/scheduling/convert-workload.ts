import type * as alpha1 from '../generated/scheduling-v1alpha1.ts';
import type * as alpha2 from '../generated/scheduling-v1alpha2.ts';
import type * as beta1 from '../generated/scheduling-v1beta1.ts';
import { SCHEDULING_GROUP, type SchedulingVersion, type StoredTemplate, type StoredWorkload } from './stored.ts';

type Served = alpha1.Workload | alpha2.Workload | beta1.Workload;

function present<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

/** Reads a Workload of any version. What the version cannot say is absent; see `carryWorkload` for updates. */
export function storedWorkload(served: Served, version: SchedulingVersion): StoredWorkload {
  const stored = { ...served, apiVersion: `${SCHEDULING_GROUP}/v1beta1` } as StoredWorkload;
  switch (version) {
    case 'v1beta1':
      stored.spec = { ...(served as beta1.Workload).spec };
      break;
    case 'v1alpha2': {
      const { controllerRef, podGroupTemplates } = (served as alpha2.Workload).spec ?? {};
      stored.spec = present({
        controllerRef,
        podGroupTemplates: podGroupTemplates?.map(({ disruptionMode, ...template }) =>
          present({ ...template, disruptionMode: disruptionMode === undefined ? undefined : modeFrom(disruptionMode) }),
        ),
      });
      break;
    }
    case 'v1alpha1': {
      const { controllerRef, podGroupTemplates, podGroups } = (served as alpha1.Workload).spec ?? {};
      stored.spec = present({
        controllerRef,
        podGroupTemplates: (podGroups ?? podGroupTemplates)?.map(({ name, policy, replicas }) =>
          present({ name, schedulingPolicy: policy, replicas } as StoredTemplate),
        ),
        draftList: (podGroups === undefined && podGroupTemplates !== undefined) || undefined,
      });
      break;
    }
  }
  return stored;
}

const modeFrom = (mode: string): beta1.DisruptionMode =>
  mode === 'PodGroup' ? { all: {} } : mode === 'Pod' ? { single: {} } : {};

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

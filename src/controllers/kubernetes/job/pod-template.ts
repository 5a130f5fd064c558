import type { Job } from '../../../api/generated/batch-v1.ts';
import type { Container, Pod } from '../../../api/generated/core-v1.ts';
import { jobType } from '../../../api/resource-types.ts';
import { podFromTemplate } from '../../shared/pod-control/index.ts';
import { judgeFailure } from './failure-policy.ts';
import type { JobGroup } from './ensure-group.ts';
import {
  INDEX_ANNOTATION,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  indexFailures,
  indexIgnoredFailures,
  isIndexed,
  TRACKING_FINALIZER,
} from './pod-facts.ts';
import { hasLimitPerIndex } from './view.ts';

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';
/** Longest prefix of a generated name. */
const MAX_PREFIX = 58;

/** The pod a Job creates: tracked, and of an Indexed Job marked with its index everywhere a program may look. */
export function jobPod(
  job: Job,
  { group, index, replaces }: { group: JobGroup | undefined; index: number | undefined; replaces: Pod | undefined },
): Pod {
  const { metadata, spec } = podFromTemplate(job.spec?.template, job, jobType);
  const pod: Pod = {
    metadata: { ...metadata, finalizers: [...new Set([...(metadata.finalizers ?? []), TRACKING_FINALIZER])] },
    spec: { containers: [], ...spec },
  };
  // The pods belong to the Job alone. Were the group their owner too, neither could go first when the Job is deleted:
  // the group is protected while its pods live.
  if (group !== undefined && pod.spec !== undefined) pod.spec.schedulingGroup = { podGroupName: group.name };
  return index === undefined || !isIndexed(job) ? pod : withIndex(job, pod, index, replaces);
}

function withIndex(job: Job, pod: Pod, index: number, replaces: Pod | undefined): Pod {
  const suffix = `-${index}-`;
  const name = job.metadata.name ?? '';
  const mark = { [INDEX_ANNOTATION]: String(index) };
  const withVariable = (container: Container): Container =>
    container.env?.some((variable) => variable.name === INDEX_VARIABLE)
      ? container
      : {
          ...container,
          env: [
            ...(container.env ?? []),
            {
              name: INDEX_VARIABLE,
              valueFrom: { fieldRef: { fieldPath: `metadata.labels['${INDEX_ANNOTATION}']` } },
            },
          ],
        };
  const spec = pod.spec ?? { containers: [] };
  return {
    metadata: {
      ...pod.metadata,
      generateName: `${name.slice(0, MAX_PREFIX - suffix.length)}${suffix}`,
      labels: { ...pod.metadata.labels, ...mark },
      annotations: { ...pod.metadata.annotations, ...mark, ...failureMarks(job, replaces) },
    },
    spec: {
      ...spec,
      hostname: `${name}-${index}`,
      containers: spec.containers.map(withVariable),
      ...(spec.initContainers && { initContainers: spec.initContainers.map(withVariable) }),
    },
  };
}

/** How often this index failed before, carried from pod to pod. */
function failureMarks(job: Job, replaces: Pod | undefined): Record<string, string> {
  if (!hasLimitPerIndex(job)) return {};
  if (replaces === undefined) return { [INDEX_FAILURES]: '0' };
  const { counts } = judgeFailure(job.spec?.podFailurePolicy, replaces);
  const failures = indexFailures(replaces) + (counts ? 1 : 0);
  const ignored = indexIgnoredFailures(replaces) + (counts ? 0 : 1);
  return {
    [INDEX_FAILURES]: String(failures),
    ...(ignored > 0 && { [INDEX_IGNORED_FAILURES]: String(ignored) }),
  };
}

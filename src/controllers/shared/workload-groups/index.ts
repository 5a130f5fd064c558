/** Workloads and PodGroups of those controllers that place pods together. */
export {
  createPodGroup,
  createWorkload,
  type GroupWriter,
  podGroupType,
  setGroupMinimum,
  setWorkloadMinimum,
  workloadType,
} from './objects.ts';

/** Workloads and PodGroups of those controllers that place pods together. */
export { GANG_ANNOTATION, readGangAnnotation, UNREADABLE_GANG } from './gang-annotation.ts';
export { podGroupName, templateName, workloadName } from './names.ts';
export {
  createPodGroup,
  createWorkload,
  type GroupTemplateTerms,
  type GroupWriter,
  podGroupType,
  setGroupMinimum,
  setWorkloadMinimum,
  workloadType,
} from './objects.ts';

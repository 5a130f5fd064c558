/** Which groups are made for owners of pods that ask for it, and what they are made of. */
export * from './annotations.ts';
export { asksForGroups } from './asking.ts';
export { decideJobGang, isNew } from './job.ts';
export { decideSetGang, disruptionOf, minimumOfReplica, REPLICA_TEMPLATE } from './leader-worker-set.ts';
export type { EnsuredGroup, GroupMaker } from './maker.ts';
export { podGroupName, templateName, workloadName } from './names.ts';
export {
  alsoOwnedBy,
  type GroupOwner,
  type GroupTemplateTerms,
  newPodGroup,
  newTemplate,
  newWorkload,
} from './objects.ts';
export {
  type GroupAbilities,
  type MakingVerdict,
  MADE_LABELS,
  wantedByJob,
  wantedByJobSet,
  wantedBySet,
  type WantedGroup,
} from './wanted.ts';

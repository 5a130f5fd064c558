export { createGroupMakingController, groupMaking, type GroupMakingHost } from './controller.ts';
export { ClusterGroupMaker, madeKinds } from './maker.ts';
export { type OwnerLookup, verdictOf } from './owners.ts';

/** Which pods of a ReplicaSet go first when it shrinks, and by which rule. */
export { rankByColocation } from './colocation.ts';
export { DELETION_COST_ANNOTATION, deletionCostOf, parseDeletionCost } from './deletion-cost.ts';
export {
  isPickerCandidate,
  type PickerAnswer,
  type PickerPlan,
  type PickerQuestion,
  type PickerReading,
  planPickerCall,
  readPickerAnswer,
} from './picker.ts';
export { chooseVictims, type DownscaleQuestion, type Ranks, type Victim, type VictimReason } from './rank.ts';
export type { RuleName } from './rules.ts';
export {
  type AnnotationPatch,
  judgePick,
  PICK_ANNOTATION,
  PICK_GRACE_MS,
  type PickChange,
  type PickNote,
  type PickVerdict,
  planPicks,
  readPick,
  unpick,
} from './pick.ts';

export { CAPACITY_AVAILABLE, type CapacityFinding, capacityLost, findCapacity, lostUnit } from './condition.ts';
export { ROOM_KINDS } from './room-kinds.ts';
export { RoomKeeper } from './room-keeper.ts';
export { decideHold, type HoldMember } from './hold-life.ts';
export {
  HOLD_FOR,
  HOLD_GRANT,
  HOLD_MEMBERS,
  HOLD_PREFIX,
  HOLD_REPLACED,
  HOLD_SIZE,
  HOLD_UNTIL,
  type HoldAsk,
  holdClassObject,
  holdsElsewhere,
  isPlaceholder,
  isReplacement,
  placeholderAgain,
  planHold,
  shortUid,
} from './placeholder.ts';

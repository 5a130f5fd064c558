export {
  type HeldPod,
  type HeldUnit,
  type HoldDeps,
  type HoldingBudgets,
  holdLoop,
  holdState,
} from './holds.ts';
export type { LostRooms } from './lost-rooms.ts';

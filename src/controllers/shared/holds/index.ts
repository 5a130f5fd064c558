export {
  type HeldPod,
  type HeldUnit,
  type HoldDeps,
  type HoldingBudgets,
  holdLoop,
} from './holds.ts';

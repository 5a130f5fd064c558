/** Who waits for whom among drains, budgets, groups and room, and which of them wait in a ring. Pure. */
export * from './deadlocks.ts';
export * from './model.ts';
export { type ReadDrain, readDrains } from './read-drain.ts';
export { othersIn, readWaits } from './read-waits.ts';
export { SteadyDeadlocks } from './steady.ts';

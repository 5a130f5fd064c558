/** What budgets of both kinds, PodDisruptionBudgets and PodUnavailableBudgets, say together. Pure. */
export * from './together.ts';
export * from './explanation.ts';
export * from './joint-explanation.ts';

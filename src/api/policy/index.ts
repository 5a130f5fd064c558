export * from './empty-selector.ts';
export * from './validate-budget.ts';
export * from './validate-conditions.ts';

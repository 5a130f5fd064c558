export { findRule, RULES } from './catalogue.ts';
export type { LintInput } from './facts.ts';
export type { FieldTree, KnownApi } from './known-api.ts';
export * from './finding.ts';
export { LINT_DISABLE, type LintOptions, type LintReport, lint } from './lint.ts';
export { nameOf } from './pod-set.ts';
export { type GangOf, TooManyPodsError } from './project.ts';

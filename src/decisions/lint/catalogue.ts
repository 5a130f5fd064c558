import type { LintRule } from './finding.ts';
import { fallsBackToPods, groupCountedAsPods, mixedBudget } from './rules/counting.ts';
import { danglingReference } from './rules/dangling-reference.ts';
import { groupPartlyCovered, groupWithoutBudget } from './rules/group-without-budget.ts';
import { invalidBudget } from './rules/invalid-budget.ts';
import { removedApiVersion, unknownField, unknownKind } from './rules/known-api.ts';
import { neverAllowsDrain } from './rules/never-allows-drain.ts';
import { overlappingBudgets } from './rules/overlapping-budgets.ts';
import { pdbAndPub } from './rules/pdb-and-pub.ts';
import { percentageRoundsAway } from './rules/percentage-rounds-away.ts';
import { protectsNothing } from './rules/protects-nothing.ts';
import { selectsEverything, selectsNothing } from './rules/selection.ts';
import { sharedGroupLabel } from './rules/shared-group-label.ts';
import { thresholdAboveSize } from './rules/threshold-above-size.ts';
import { thresholdOfOne } from './rules/threshold-of-one.ts';
import { uncountableOwner } from './rules/uncountable-owner.ts';
import { unhealthyPodsBlock } from './rules/unhealthy-pods-block.ts';
import { unreadableAnnotation } from './rules/unreadable-annotation.ts';

/** Every rule, the gravest first. */
export const RULES: readonly LintRule[] = [
  unknownField,
  unknownKind,
  removedApiVersion,
  neverAllowsDrain,
  thresholdAboveSize,
  overlappingBudgets,
  uncountableOwner,
  danglingReference,
  fallsBackToPods,
  invalidBudget,
  unreadableAnnotation,
  percentageRoundsAway,
  thresholdOfOne,
  groupCountedAsPods,
  groupWithoutBudget,
  groupPartlyCovered,
  pdbAndPub,
  sharedGroupLabel,
  mixedBudget,
  selectsNothing,
  selectsEverything,
  protectsNothing,
  unhealthyPodsBlock,
];

export function findRule(name: string): LintRule | undefined {
  return RULES.find((rule) => rule.name === name);
}

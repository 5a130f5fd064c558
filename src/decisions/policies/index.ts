/** What DisruptionPolicies say: which groups they speak for, and how often and when those may be disrupted. */
export { type NoticeFactsOfPolicy, type PolicyFacts, readPolicy } from './facts.ts';
export { chargedLedger, goingIn, observedLedger, withNoticeEnded } from './ledger.ts';
export {
  checkLimits,
  disrupts,
  type Foregone,
  type GroupNow,
  isUnderWay,
  isLimitReason,
  LIMIT_FIELDS,
  LIMIT_REASONS,
  type LimitReason,
  type LimitRefusal,
  nextAllowed,
} from './limits.ts';
export { policyOutlook } from './status.ts';
export { PolicyIndex } from './policy-index.ts';

import { readReserveMs } from '../../../api/quorate/reserve-time.ts';
import {
  BUDGET_SCOPE,
  CAPACITY,
  CAPACITY_RESERVE,
  CAPACITY_RESERVE_FAILURE,
  CAPACITY_RESERVE_PRIORITY,
  DRAIN_LOOKAHEAD,
  GROUP_BY,
  GROUP_MIN_COUNT,
  GROUP_REPLICAS,
  readGroupBy,
} from '../../disruption/index.ts';
import type { LintRule } from '../finding.ts';

type Check = (value: string, annotations: Readonly<Record<string, string>>) => string | undefined;

const isOneOf =
  (...values: string[]): Check =>
  (value) =>
    values.includes(value) ? undefined : `must be ${values.map((one) => `"${one}"`).join(' or ')}`;

const isCount: Check = (value) => (/^[1-9]\d*$/.test(value) ? undefined : 'must be a whole number from 1');

const CHECKS: Readonly<Record<string, Check>> = {
  [BUDGET_SCOPE]: isOneOf('PodGroup', 'Pod'),
  [CAPACITY]: isOneOf('Require', 'Ignore'),
  [CAPACITY_RESERVE]: (value) =>
    value === '0' || readReserveMs(value) !== undefined ? undefined : 'must be a duration from 10s to 24h, or 0',
  [CAPACITY_RESERVE_FAILURE]: isOneOf('Refuse', 'Proceed'),
  [CAPACITY_RESERVE_PRIORITY]: isOneOf('Group', 'Low'),
  [DRAIN_LOOKAHEAD]: isOneOf('Node'),
  [GROUP_BY]: (_, annotations) =>
    readGroupBy(annotations) === 'unknown'
      ? 'must be podGroup, leaderworkerset, jobset, jobset:replicatedJob, jobset:jobset or label:KEY'
      : undefined,
  [GROUP_MIN_COUNT]: isCount,
  [GROUP_REPLICAS]: isCount,
};

export const unreadableAnnotation: LintRule = {
  name: 'unreadable-annotation',
  severity: 'error',
  what: 'An annotation for Quorate whose value means nothing',
  why: 'A value that cannot be read is ignored, and the budget counts otherwise than its author meant.',
  fix: 'Use one of the values that the message names.',
  details:
    'Annotations are free text to Kubernetes, so nobody refuses a mistyped one. Checked on PodDisruptionBudgets: ' +
    `${Object.keys(CHECKS).join(', ')}.`,
  *check({ pdbs }) {
    for (const { object } of pdbs) {
      const { annotations = {} } = object.metadata;
      for (const [key, check] of Object.entries(CHECKS)) {
        const value = annotations[key];
        const wrong = value === undefined ? undefined : check(value, annotations);
        if (wrong === undefined) continue;
        yield {
          object,
          path: `metadata.annotations[${key}]`,
          message: `${key} is ${JSON.stringify(value)}; it ${wrong}`,
        };
      }
    }
  },
};

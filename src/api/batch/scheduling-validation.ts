import type { Job, JobSchedulingConfiguration, JobSpec } from '../generated/batch-v1.ts';
import {
  checkQualifiedName,
  type FieldPath,
  invalid,
  type Issue,
  required,
  semanticEqual,
  tooMany,
} from '../../machinery/values/index.ts';

const MAX_CLAIMS = 4;

/** How a Job of v1.37 wants its pods placed and disrupted: one policy, a minimum the Job can reach, one mode. */
export function validateScheduling({ parallelism = 1, scheduling }: JobSpec, path: FieldPath): Issue[] {
  if (scheduling === undefined) return [];
  const { disruptionMode, resourceClaims = [], schedulingConstraints, schedulingPolicy } = scheduling;
  const issues = [
    ...exactlyOne(schedulingPolicy, ['basic', 'gang'], path.child('schedulingPolicy')),
    ...exactlyOne(disruptionMode, ['single', 'all'], path.child('disruptionMode')),
  ];
  const minCount = schedulingPolicy?.gang?.minCount;
  const minimum = path.child('schedulingPolicy', 'gang', 'minCount');
  if (minCount !== undefined && minCount < 1)
    issues.push(invalid(minimum, minCount, 'must be greater than or equal to 1'));
  else if (minCount !== undefined && minCount > parallelism) {
    issues.push(invalid(minimum, minCount, `must not be greater than parallelism (${parallelism})`));
  }
  for (const [at, { key }] of (schedulingConstraints?.topology ?? []).entries()) {
    const field = path.child('schedulingConstraints', 'topology').index(at).child('key');
    if (key === '') issues.push(required(field));
    else for (const problem of checkQualifiedName(key)) issues.push(invalid(field, key, problem));
  }
  const claims = path.child('resourceClaims');
  if (resourceClaims.length > MAX_CLAIMS) issues.push(tooMany(claims, resourceClaims.length, MAX_CLAIMS));
  for (const [at, claim] of resourceClaims.entries()) {
    const { name: _, ...sources } = claim;
    issues.push(...exactlyOne(sources, ['resourceClaimName', 'resourceClaimTemplateName'], claims.index(at)));
  }
  return issues;
}

function exactlyOne(union: object | undefined, names: readonly string[], path: FieldPath): Issue[] {
  if (union === undefined) return [];
  const set = names.filter((name) => (union as Record<string, unknown>)[name] !== undefined);
  if (set.length === 1) return [];
  return [
    invalid(
      path,
      set.length === 0 ? '' : `{${set.join(', ')}}`,
      `must specify exactly one of: ${names.map((name) => `\`${name}\``).join(', ')}`,
    ),
  ];
}

const VARIANT =
  'the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated';

/** Nothing of it may change but the minimum of a gang. */
export function validateSchedulingUpdate(update: Job, old: Job, path: FieldPath): Issue[] {
  const now = update.spec?.scheduling;
  const before = old.spec?.scheduling;
  if (now === undefined && before === undefined) return [];
  if (semanticEqual(frozen(now), frozen(before))) return [];
  const { schedulingPolicy } = now ?? {};
  const switched =
    schedulingPolicy !== undefined &&
    before?.schedulingPolicy !== undefined &&
    (schedulingPolicy.basic === undefined) !== (before.schedulingPolicy.basic === undefined);
  return switched
    ? [invalid(path.child('schedulingPolicy'), schedulingPolicy, VARIANT)]
    : [invalid(path, now, 'field is immutable, but for schedulingPolicy.gang.minCount')];
}

function frozen(scheduling: JobSchedulingConfiguration | undefined): unknown {
  const { schedulingPolicy } = scheduling ?? {};
  if (schedulingPolicy?.gang === undefined) return scheduling;
  return { ...scheduling, schedulingPolicy: { ...schedulingPolicy, gang: {} } };
}

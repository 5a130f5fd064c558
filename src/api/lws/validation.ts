import {
  checkDns1035Label,
  deepEqual,
  FieldPath,
  type IntOrPercent,
  invalid,
  type Issue,
  parsePercent,
  required,
  scaledValue,
} from '../../machinery/values/index.ts';
import { nonNegative, positiveIntOrPercent } from '../apps/replicas-validation.ts';
import { type LeaderWorkerSet, type LeaderWorkerSetSpec, LWS } from './types.ts';

const MAX_INT32 = 2 ** 31 - 1;
const SPEC = FieldPath.of('spec');
const TEMPLATE = SPEC.child('leaderWorkerTemplate');
const SUBGROUP = TEMPLATE.child('subGroupPolicy');
const SUBGROUP_SIZE = SUBGROUP.child('subGroupSize');
const ROLLING = SPEC.child('rolloutStrategy', 'rollingUpdateConfiguration');

/** What a set must satisfy beyond its schema, once it has its defaults. */
export function validateLeaderWorkerSet({ metadata, spec = {} }: LeaderWorkerSet): Issue[] {
  const { name = '' } = metadata;
  return [
    // It names a Service.
    ...checkDns1035Label(name).map((text) => invalid(FieldPath.of('metadata', 'name'), name, text)),
    ...validateCounts(spec),
    ...validateRollout(spec),
    ...validateSubGroups({ metadata, spec }),
  ];
}

/** Pods of a set are told their subgroup as they are made: subgroups stay as they were. */
export function validateLeaderWorkerSetUpdate(set: LeaderWorkerSet, old: LeaderWorkerSet): Issue[] {
  const { subGroupPolicy: now } = set.spec?.leaderWorkerTemplate ?? {};
  const { subGroupPolicy: before } = old.spec?.leaderWorkerTemplate ?? {};
  // What was wrong before these rules may stay as it is.
  const issues = deepEqual(set.spec, old.spec) ? [] : validateLeaderWorkerSet(set);
  if (now && before) {
    if (now.subGroupSize !== before.subGroupSize) {
      issues.push(invalid(SUBGROUP_SIZE, now.subGroupSize, 'field is immutable'));
    }
  } else if (now) issues.push(invalid(SUBGROUP, now, 'a set that was made without subgroups cannot get them'));
  else if (before) issues.push(invalid(SUBGROUP, null, 'a set that was made with subgroups cannot lose them'));
  return issues;
}

function validateCounts({ leaderWorkerTemplate, replicas = 1 }: LeaderWorkerSetSpec): Issue[] {
  const { size = 1 } = leaderWorkerTemplate ?? {};
  return [
    ...nonNegative(replicas, SPEC.child('replicas')),
    ...(size < 1 ? [invalid(TEMPLATE.child('size'), size, 'must be greater than or equal to 1')] : []),
    ...(replicas * size > MAX_INT32
      ? [invalid(SPEC.child('replicas'), replicas, `replicas times size must not exceed ${MAX_INT32}`)]
      : []),
  ];
}

function validateRollout({ replicas = 1, rolloutStrategy }: LeaderWorkerSetSpec): Issue[] {
  const { maxSurge = 0, maxUnavailable = 1, partition } = rolloutStrategy?.rollingUpdateConfiguration ?? {};
  const issues = [
    ...atMostAll(maxUnavailable, ROLLING.child('maxUnavailable')),
    ...atMostAll(maxSurge, ROLLING.child('maxSurge')),
    ...nonNegative(partition, ROLLING.child('partition')),
  ];
  if (issues.length > 0 || replicas === 0) return issues;
  const moves = scaledValue(maxUnavailable, replicas, 'down') + scaledValue(maxSurge, replicas, 'up');
  return moves > 0
    ? []
    : [invalid(ROLLING.child('maxUnavailable'), maxUnavailable, 'must not be 0 when maxSurge is 0')];
}

function atMostAll(value: IntOrPercent, path: FieldPath): Issue[] {
  const issues = positiveIntOrPercent(value, path);
  if (issues.length === 0 && (parsePercent(value) ?? 0) > 100) {
    issues.push(invalid(path, value, 'must not be greater than 100%'));
  }
  return issues;
}

function validateSubGroups({ metadata, spec }: LeaderWorkerSet): Issue[] {
  const { size = 1, subGroupPolicy } = spec?.leaderWorkerTemplate ?? {};
  if (!subGroupPolicy) {
    const topology = metadata.annotations?.[LWS.subGroupExclusiveTopology];
    const path = FieldPath.of('metadata', 'annotations').key(LWS.subGroupExclusiveTopology);
    return topology === undefined ? [] : [invalid(path, topology, 'needs spec.leaderWorkerTemplate.subGroupPolicy')];
  }
  const { subGroupPolicyType, subGroupSize } = subGroupPolicy;
  if (subGroupSize === undefined || subGroupSize === null) return [required(SUBGROUP_SIZE)];
  const wrong = (text: string): Issue[] => [invalid(SUBGROUP_SIZE, subGroupSize, text)];
  if (subGroupSize < 1) return wrong('must be greater than or equal to 1');
  if (subGroupSize > size) return wrong('must not be greater than size');
  const dividesWorkers = (size - 1) % subGroupSize === 0;
  if (subGroupPolicyType === 'LeaderExcluded' && !dividesWorkers) {
    return wrong('size - 1 must be a multiple of it with LeaderExcluded');
  }
  return dividesWorkers || size % subGroupSize === 0 ? [] : wrong('size or size - 1 must be a multiple of it');
}

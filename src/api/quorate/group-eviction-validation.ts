import { FieldPath, invalid, type Issue, required } from '../../machinery/values/index.ts';
import type { GroupEviction } from './group-eviction.ts';

/** The rules of a new GroupEviction that its schema cannot state. */
export function validateNewGroupEviction({ spec }: GroupEviction): Issue[] {
  if (spec === undefined) {
    return [
      required(FieldPath.of('spec'), 'must name the group by podGroupName, leaderWorkerSet, groupLabel or podName'),
    ];
  }
  if (spec.intent !== 'Withdrawn') return [];
  const message = 'must be Evict, or absent, when it is made: withdraw it by changing it';
  return [invalid(FieldPath.of('spec', 'intent'), spec.intent, message)];
}

import { compareQuantities, type FieldPath, invalid, isQuantity, type Issue } from '../../machinery/values/index.ts';
import type { Container } from '../generated/core-v1.ts';

export function requestsWithinLimits(resources: Container['resources'], path: FieldPath): Issue[] {
  const { limits = {}, requests = {} } = resources ?? {};
  return Object.entries(requests).flatMap(([name, request]) => {
    const limit = limits[name];
    if (limit === undefined || !isQuantity(limit) || !isQuantity(request)) return [];
    if (compareQuantities(request, limit) <= 0) return [];
    return [invalid(path.child('requests'), request, `must be less than or equal to ${name} limit of ${limit}`)];
  });
}

import { isIPv4, isIPv6 } from 'node:net';
import { FieldPath, required } from '../../../machinery/values/index.ts';
import type { Strategy } from '../../registry/strategy.ts';

const NOT_CANONICAL = 'must be a valid IP address in canonical form';

/** The name of an IPAddress is the address, written the one way that has no other spelling. */
function checkAddress(name: string): string[] {
  if (isIPv4(name)) return [];
  if (!isIPv6(name)) return [NOT_CANONICAL];
  return new URL(`http://[${name}]`).hostname === `[${name}]` ? [] : [NOT_CANONICAL];
}

export const ipAddressStrategy: Strategy = {
  checkName: checkAddress,
  validate(object) {
    const { parentRef } = (object['spec'] ?? {}) as { parentRef?: { resource?: string; name?: string } };
    const path = FieldPath.of('spec', 'parentRef');
    if (parentRef === undefined) return [required(path)];
    return (['resource', 'name'] as const)
      .filter((field) => !parentRef[field])
      .map((field) => required(path.child(field)));
  },
};

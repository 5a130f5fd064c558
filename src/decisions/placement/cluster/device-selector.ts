import type { Device, DeviceSelector } from '../../../api/generated/resource-v1.ts';

/** One equality of a selector. */
export type DeviceCondition =
  | { readonly driver: string }
  | { readonly domain: string; readonly name: string; readonly value: string | number | boolean };

const DRIVER = /^device\.driver\s*==\s*(?:'([^']*)'|"([^"]*)")$/;
const ATTRIBUTE =
  /^device\.attributes\[(?:'([^']*)'|"([^"]*)")\]\.([A-Za-z_]\w*)\s*==\s*(?:'([^']*)'|"([^"]*)"|(-?\d+)|(true|false))$/;

/**
 * The part of the expression language that counting devices needs: equalities of driver and attributes, all of which
 * must hold. Undefined for anything else.
 */
export function readSelectors(selectors: readonly DeviceSelector[] | undefined): DeviceCondition[] | undefined {
  const conditions: DeviceCondition[] = [];
  for (const { cel } of selectors ?? []) {
    for (const part of (cel?.expression ?? '').split('&&')) {
      const condition = readCondition(part.trim());
      if (condition === undefined) return undefined;
      conditions.push(condition);
    }
  }
  return conditions;
}

function readCondition(text: string): DeviceCondition | undefined {
  const driver = DRIVER.exec(text);
  if (driver !== null) return { driver: driver[1] ?? driver[2] ?? '' };
  const found = ATTRIBUTE.exec(text);
  if (found === null) return undefined;
  const [, one, other, name = '', single, double, digits, truth] = found;
  const value =
    digits !== undefined ? Number(digits) : truth !== undefined ? truth === 'true' : (single ?? double ?? '');
  return { domain: one ?? other ?? '', name, value };
}

/** Whether a device meets all conditions; `missing` where one asks for an attribute that it lacks. */
export function meets(
  facts: { readonly driver: string; readonly device: Device },
  conditions: readonly DeviceCondition[],
): boolean | 'missing' {
  const { attributes = {} } = facts.device;
  for (const condition of conditions) {
    if ('driver' in condition) {
      if (condition.driver !== facts.driver) return false;
      continue;
    }
    const { domain, name, value } = condition;
    const found = attributes[`${domain}/${name}`] ?? (domain === facts.driver ? attributes[name] : undefined);
    if (found === undefined) return 'missing';
    if ((found.string ?? found.int ?? found.bool ?? found.version) !== value) return false;
  }
  return true;
}

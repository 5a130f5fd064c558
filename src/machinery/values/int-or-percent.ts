/** An integer or a percentage such as `25%`, the way budgets and rollouts are written. */
export type IntOrPercent = number | string;

const PERCENT = /^[0-9]+%$/;

export function isPercent(value: IntOrPercent): value is string {
  return typeof value === 'string' && PERCENT.test(value);
}

/** The number in `30%`; undefined when the text is not a percentage. */
export function parsePercent(value: IntOrPercent): number | undefined {
  return isPercent(value) ? Number(value.slice(0, -1)) : undefined;
}

export type Rounding = 'up' | 'down';

/** Resolves against a total. Text that is no percentage is an error, never a guess. */
export function scaledValue(value: IntOrPercent, total: number, rounding: Rounding): number {
  if (typeof value === 'number') return value;
  const percent = parsePercent(value);
  if (percent === undefined)
    throw new RangeError(`invalid value for IntOrString: ${JSON.stringify(value)} is not a percentage`);
  const exact = (percent * total) / 100;
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact);
}

import type { ScalarName } from '../../../api/schema/index.ts';
import { canonicalQuantity, parseDurationMs, parseTime, QuantityError } from '../../../machinery/values/index.ts';
import { DecodeError } from '../decode-error.ts';

/** Says that a JSON value cannot become the field's type; the caller adds where. */
export class ScalarMismatch extends Error {
  override name = 'ScalarMismatch';
  readonly goType: string;

  constructor(goType: string) {
    super(goType);
    this.goType = goType;
  }
}

const SIMPLE_QUANTITY = /^[1-9]\d{0,2}(m|[KMGTPE]i)?$/;
const WHOLE_SECONDS_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function integer(value: unknown, min: number, max: number, goType: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new ScalarMismatch(goType);
  }
  return value;
}

function quantity(value: unknown): string {
  if (typeof value === 'string' && value.length < 20 && SIMPLE_QUANTITY.test(value)) return value;
  if (typeof value !== 'string' && typeof value !== 'number') throw new ScalarMismatch('resource.Quantity');
  try {
    return canonicalQuantity(typeof value === 'string' ? value.trim() : value);
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError(error.message, { cause: error });
    throw error;
  }
}

function time(value: unknown, micro: boolean): string {
  if (typeof value !== 'string') throw new ScalarMismatch('string');
  if (!micro && WHOLE_SECONDS_UTC.test(value) && parseTime(value) !== undefined) return value;
  const ms = parseTime(value);
  if (ms === undefined) {
    const layout = micro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00';
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(value)} as "2006"`,
    );
  }
  const whole = `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}`;
  if (!micro) return `${whole}Z`;
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? '';
  return `${whole}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}

/** The value in the form Go would write it back; throws when it is none of the type. */
export function conformScalar(scalar: ScalarName, value: unknown): unknown {
  switch (scalar) {
    case 'string':
      if (typeof value !== 'string') throw new ScalarMismatch('string');
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw new ScalarMismatch('bool');
      return value;
    case 'int32':
      return integer(value, -2147483648, 2147483647, 'int32');
    case 'int64':
      return integer(value, -(2 ** 63), 2 ** 63 - 1, 'int64');
    case 'float64':
      if (typeof value !== 'number') throw new ScalarMismatch('float64');
      return value;
    case 'bytes':
      if (Array.isArray(value)) return bytesOf(value);
      if (typeof value !== 'string') throw new ScalarMismatch('[]uint8');
      if (!BASE64.test(value)) return normalizeBase64(value);
      return value;
    case 'quantity':
      return quantity(value);
    case 'time':
      return time(value, false);
    case 'microtime':
      return time(value, true);
    case 'duration':
      if (typeof value !== 'string') throw new ScalarMismatch('string');
      if (parseDurationMs(value) === undefined)
        throw new DecodeError(`time: invalid duration ${JSON.stringify(value)}`);
      return value;
    case 'intOrString':
      return typeof value === 'string' ? value : integer(value, -2147483648, 2147483647, 'int32');
    default:
      return value;
  }
}

/** Go reads bytes from a list of numbers as well; null among them is zero. */
function bytesOf(items: readonly unknown[]): string {
  return Buffer.from(items.map((item) => integer(item ?? 0, 0, 255, 'uint8') as number)).toString('base64');
}

/** Go ignores line breaks inside base64; anything else is an error at a byte. */
function normalizeBase64(value: string): string {
  const joined = value.replaceAll(/[\r\n]/g, '');
  if (BASE64.test(joined)) return joined;
  const bad = joined.search(/[^A-Za-z0-9+/]/);
  throw new DecodeError(`illegal base64 data at input byte ${bad < 0 ? joined.length : bad}`);
}

const SUFFIXES: Readonly<Record<string, readonly [base: bigint, exponent: number]>> = {
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  '': [10n, 0],
  k: [10n, 3],
  M: [10n, 6],
  G: [10n, 9],
  T: [10n, 12],
  P: [10n, 15],
  E: [10n, 18],
  Ki: [2n, 10],
  Mi: [2n, 20],
  Gi: [2n, 30],
  Ti: [2n, 40],
  Pi: [2n, 50],
  Ei: [2n, 60],
};

const SYNTAX = /^([+-]?)(\d+\.?\d*|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;
const NANO = 1_000_000_000n;

export class QuantityError extends Error {
  override name = 'QuantityError';
}

const known = new Map<string, bigint>();
const MAX_KNOWN = 4096;
/** Far more than any amount needs; arithmetic on more digits takes long. */
const MAX_LENGTH = 100;

/**
 * Reads `100m`, `1.5Gi`, `2e3` exactly, in billionths (the smallest unit Kubernetes keeps), rounding up
 * what is finer. Throws QuantityError. The same few quantities come with every pod, so they are remembered.
 */
export function parseNanos(quantity: string | number): bigint {
  const text = String(quantity);
  if (text.length > MAX_LENGTH) throw new QuantityError(`a quantity has at most ${MAX_LENGTH} characters`);
  let nanos = known.get(text);
  if (nanos === undefined) {
    nanos = readNanos(text);
    if (known.size < MAX_KNOWN) known.set(text, nanos);
  }
  return nanos;
}

function readNanos(text: string): bigint {
  const found = SYNTAX.exec(text);
  if (found === null) {
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  const [, sign, digits = '', suffix = ''] = found;
  const [whole = '', fraction = ''] = digits.split('.');
  let value = BigInt(whole + fraction || '0');
  let tenPower = 9 - fraction.length;
  if (/^[eE][+-]?\d+$/.test(suffix)) tenPower += Number(suffix.slice(1));
  else {
    const [base, exponent] = SUFFIXES[suffix] as readonly [bigint, number];
    if (base === 2n) value <<= BigInt(exponent);
    else tenPower += exponent;
  }
  if (Math.abs(tenPower) > 60) throw new QuantityError(`quantity ${JSON.stringify(text)} is out of range`);
  if (tenPower >= 0) value *= 10n ** BigInt(tenPower);
  else {
    const divisor = 10n ** BigInt(-tenPower);
    value = (value + divisor - 1n) / divisor;
  }
  return sign === '-' ? -value : value;
}

/** Whole units, rounded up: pods, bytes. */
export function parseUnits(quantity: string | number): number {
  return Number(ceilDivide(parseNanos(quantity), NANO));
}

/** Thousandths, rounded up: CPU. */
export function parseMillis(quantity: string | number): number {
  return Number(ceilDivide(parseNanos(quantity), 1_000_000n));
}

function ceilDivide(value: bigint, by: bigint): bigint {
  return value >= 0n ? (value + by - 1n) / by : value / by;
}

export function isQuantity(value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  return SYNTAX.test(String(value));
}

export function compareQuantities(a: string | number, b: string | number): number {
  const left = parseNanos(a);
  const right = parseNanos(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Adds and prints in the family (binary or decimal) of the first operand, as Kubernetes does. */
export function addQuantities(a: string | number, b: string | number): string {
  return formatNanos(parseNanos(a) + parseNanos(b), isBinary(a) || (isZero(a) && isBinary(b)));
}

export function subtractQuantities(a: string | number, b: string | number): string {
  return formatNanos(parseNanos(a) - parseNanos(b), isBinary(a) || (isZero(a) && isBinary(b)));
}

const isBinary = (quantity: string | number): boolean => String(quantity).endsWith('i');
const isZero = (quantity: string | number): boolean => parseNanos(quantity) === 0n;

/** The shortest exact spelling: the largest suffix that leaves no fraction. */
export function formatNanos(nanos: bigint, binary = false): string {
  if (nanos === 0n) return '0';
  const negative = nanos < 0n;
  const size = negative ? -nanos : nanos;
  const sign = negative ? '-' : '';
  if (binary && size % NANO === 0n) {
    let units = size / NANO;
    let at = 0;
    const names = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
    while (at < names.length - 1 && units % 1024n === 0n) {
      units /= 1024n;
      at += 1;
    }
    return `${sign}${units}${names[at]}`;
  }
  let value = size;
  let at = 0;
  const names = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
  while (at < names.length - 1 && value % 1000n === 0n) {
    value /= 1000n;
    at += 1;
  }
  return `${sign}${value}${names[at]}`;
}

/** A quantity as clients read it back: `1000m` is `1`, `1024Ki` is `1Mi`. */
export function canonicalQuantity(quantity: string | number): string {
  return formatNanos(parseNanos(quantity), isBinary(quantity));
}

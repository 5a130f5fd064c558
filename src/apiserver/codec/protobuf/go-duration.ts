/** A duration as Go prints it: `1h0m0s`, `1.5s`, `250ms`; zero is `0s`. */
export function formatGoDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1_000n)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 1_000_000n)}ms`;
  const seconds = size / 1_000_000_000n;
  const rest = decimal(size - (seconds / 60n) * 60_000_000_000n, 1_000_000_000n);
  const minutes = seconds / 60n;
  if (minutes === 0n) return `${sign}${rest}s`;
  return minutes < 60n ? `${sign}${minutes}m${rest}s` : `${sign}${minutes / 60n}h${minutes % 60n}m${rest}s`;
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return fraction === '' ? `${value / unit}` : `${value / unit}.${fraction}`;
}

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** The inverse; text that is no duration counts as zero, since validation has seen it before. */
export function parseGoDuration(text: string): bigint {
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = 's'] of text.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g)) {
    const scale = UNITS[unit] ?? 0n;
    total += BigInt(whole || '0') * scale;
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  return text.startsWith('-') ? -total : total;
}

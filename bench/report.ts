/** One line per measurement, with its target beside it. */
export function report(
  what: string,
  measured: string,
  goal?: { readonly target: string; readonly met: boolean },
): void {
  const verdict = goal === undefined ? '' : `  ${goal.met ? 'ok' : 'MISSED'} (${goal.target})`;
  console.log(`${what.padEnd(52)} ${measured}${verdict}`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

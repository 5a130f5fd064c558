/** One measured number. Higher is better for rates; for times and sizes lower is. */
export interface Measure {
  readonly name: string;
  readonly unit: 'per second' | 'ms' | 'MB' | 's';
  readonly value: number;
}

export interface Row {
  readonly measure: Measure;
  /** The same measured on Kubernetes in this run. */
  readonly reference?: Measure | undefined;
}

const show = ({ value, unit }: Measure) => {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const suffix = unit === 'per second' ? '/s' : ` ${unit}`;
  return `${value.toFixed(digits)}${suffix}`;
};

/** How many times better than Kubernetes: above one is better, whatever the unit. */
export function ratio({ measure, reference }: Row): number | undefined {
  if (reference === undefined) return undefined;
  return measure.unit === 'per second' ? measure.value / reference.value : reference.value / measure.value;
}

export function formatRows(rows: readonly Row[]): string {
  const cells = rows.map((row) => {
    const times = ratio(row);
    return [
      row.measure.name,
      show(row.measure),
      row.reference === undefined ? '-' : show(row.reference),
      times === undefined ? '-' : `${times.toFixed(2)}x`,
    ];
  });
  const table = [['benchmark', 'quorate', 'kubernetes', 'better by'], ...cells];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...table.map((line) => (line[at] ?? '').length)));
  return table
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The value below which the given share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

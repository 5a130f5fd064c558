import type { StepState } from '../../fleet/index.ts';

const MOST_ROWS = 80;

export interface ShownStep {
  readonly evictions: readonly { readonly unit: string; readonly disrupts: boolean }[];
  /** Nodes that are empty afterwards. */
  readonly completes: readonly string[];
}

export interface TimelineProps {
  readonly label: string;
  readonly steps: readonly ShownStep[];
  readonly states: readonly StepState[];
  /** The number of the first step. */
  readonly first?: number;
}

/** A plan as steps from left to right: which groups are down in which, and which nodes are empty afterwards. */
export function Timeline({ first = 1, label, states, steps }: TimelineProps) {
  const rows = new Map<string, ('down' | 'moves' | undefined)[]>();
  for (const [at, { evictions }] of steps.entries()) {
    for (const { disrupts, unit } of evictions) {
      const row = rows.get(unit) ?? [];
      row[at] = disrupts ? 'down' : 'moves';
      rows.set(unit, row);
    }
  }
  const shown = [...rows].slice(0, MOST_ROWS);
  return (
    <div class="timeline" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th>
            {steps.map((_, at) => (
              <th key={at} scope="col" class={`step step-${states[at]?.toLowerCase()}`}>
                {first + at}
                <span class="offscreen">. step, {WORDS[states[at] ?? 'Ahead']}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(([unit, cells]) => (
            <tr key={unit}>
              <th scope="row" class="mono" title={unit}>
                {unit}
              </th>
              {steps.map((_, at) => (
                <td key={at} class={`step-${states[at]?.toLowerCase()}`}>
                  {cells[at] !== undefined && (
                    <span class={`outage outage-${cells[at]}`}>
                      <span class="offscreen">{cells[at] === 'down' ? 'goes down' : 'moves, stays up'}</span>
                    </span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Empty afterwards</th>
            {steps.map(({ completes }, at) => (
              <td key={at} title={completes.join(', ')}>
                {completes.length > 0 && (
                  <span>
                    {completes.length}
                    <span class="offscreen"> nodes: {completes.slice(0, 20).join(', ')}</span>
                  </span>
                )}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
      <p class="hint legend" aria-hidden="true">
        <span class="outage outage-down" /> goes down <span class="outage outage-moves" /> moves, stays up
      </p>
      {rows.size > MOST_ROWS && <p class="hint">and {rows.size - MOST_ROWS} more groups</p>}
    </div>
  );
}

const WORDS: Readonly<Record<StepState, string>> = { Ahead: 'ahead', Running: 'running', Done: 'done' };

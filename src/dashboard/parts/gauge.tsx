import type { ShownBudget } from '../../fleet/index.ts';

const MOST_CELLS = 40;

type GaugedBudget = Pick<ShownBudget, 'allowed' | 'counts' | 'desired' | 'expected' | 'healthy'>;

/**
 * A budget as a row of groups: those it needs, those it could lose, and those that are down. Large budgets become bars
 * of the same proportions.
 */
export function Gauge({ view }: { view: GaugedBudget }) {
  const { allowed, desired, expected, healthy } = view;
  const total = Math.max(expected, healthy, desired, 1);
  const units = view.counts === 'PodGroup' ? 'groups' : 'pods';
  const words = `${healthy} of ${expected || total} ${units} healthy, ${desired} needed, ${Math.max(0, allowed)} may go`;
  const kinds = Array.from({ length: Math.min(total, MOST_CELLS) }, (_, at) => {
    const unit = total <= MOST_CELLS ? at : Math.floor(((at + 0.5) * total) / MOST_CELLS);
    if (unit >= healthy) return unit < desired ? 'missing' : 'down';
    return unit < desired ? 'needed' : 'free';
  });
  return (
    <div class="gauge" role="img" aria-label={words}>
      {kinds.map((kind, at) => (
        <span key={at} class={`unit unit-${kind}`} />
      ))}
    </div>
  );
}

export function GaugeLegend() {
  return (
    <ul class="legend" aria-label="What the gauges show">
      <li>
        <span class="unit unit-needed" /> needed
      </li>
      <li>
        <span class="unit unit-free" /> may go
      </li>
      <li>
        <span class="unit unit-missing" /> needed and missing
      </li>
      <li>
        <span class="unit unit-down" /> down
      </li>
    </ul>
  );
}

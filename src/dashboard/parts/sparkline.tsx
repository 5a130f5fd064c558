import type { HistorySample } from '../../fleet/index.ts';

const WIDTH = 240;
const HEIGHT = 36;

/** Healthy units over the last minutes, with a line where the budget's need stands. */
export function Sparkline({ samples, now }: { samples: readonly HistorySample[]; now: number }) {
  const first = samples[0];
  if (first === undefined || samples.length < 2) {
    return <p class="hint">No change since this page was opened.</p>;
  }
  const most = Math.max(...samples.map(({ desired, healthy }) => Math.max(desired, healthy)), 1);
  const x = (at: number): number => ((at - first.at) / Math.max(1, now - first.at)) * WIDTH;
  const y = (value: number): number => HEIGHT - 3 - (value / most) * (HEIGHT - 6);
  const steps = (of: (sample: HistorySample) => number): string =>
    samples
      .map((sample, at) => {
        const until = samples[at + 1]?.at ?? now;
        return `${at === 0 ? 'M' : 'L'}${x(sample.at).toFixed(1)} ${y(of(sample)).toFixed(1)}H${x(until).toFixed(1)}`;
      })
      .join('');
  const fewest = Math.min(...samples.map(({ healthy }) => healthy));
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`At least ${fewest} healthy since this page was opened`}
    >
      <path class="line-desired" d={steps(({ desired }) => desired)} />
      <path class="line-healthy" d={steps(({ healthy }) => healthy)} />
    </svg>
  );
}

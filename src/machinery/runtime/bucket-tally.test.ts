import { expect, test } from 'vitest';
import { BucketTally } from './bucket-tally.ts';
import { Metrics } from './metrics.ts';

test('BucketTally counts a value in the first bucket that it is not above', () => {
  const tally = new BucketTally([1, 5]);
  for (const value of [0, 1, 1.5, 5, 6]) tally.observe(value);
  expect([...tally.counts]).toEqual([2, 2, 1]);
  expect(tally.sum).toBe(13.5);
});

test('tallies are read as Prometheus asks: each bucket holds those below it, and there is a sum and a count', async () => {
  const metrics = new Metrics();
  const labels = { type: 'admit', operation: 'CREATE', rejected: 'false' };
  const tally = metrics.tallyOf('apiserver_admission_step_admission_duration_seconds', labels);
  for (const value of [0.001, 0.02, 9]) tally.observe(value);
  const text = await metrics.registry.metrics();
  const lines = text.split('\n').filter((line) => line.startsWith('apiserver_admission_step'));
  const tail = '{type="admit",operation="CREATE",rejected="false"}';
  expect(lines.map((line) => line.replace(/^apiserver_admission_step_admission_duration_seconds/, ''))).toEqual([
    '_bucket{type="admit",operation="CREATE",rejected="false",le="0.005"} 1',
    '_bucket{type="admit",operation="CREATE",rejected="false",le="0.025"} 2',
    '_bucket{type="admit",operation="CREATE",rejected="false",le="0.1"} 2',
    '_bucket{type="admit",operation="CREATE",rejected="false",le="0.5"} 2',
    '_bucket{type="admit",operation="CREATE",rejected="false",le="1"} 2',
    '_bucket{type="admit",operation="CREATE",rejected="false",le="2.5"} 2',
    '_bucket{type="admit",operation="CREATE",rejected="false",le="+Inf"} 3',
    `_sum${tail} 9.021`,
    `_count${tail} 3`,
  ]);
});

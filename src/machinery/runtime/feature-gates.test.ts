import { expect, test } from 'vitest';
import { FeatureGates } from './feature-gates.ts';

test('FeatureGates.parse() sets what is named and leaves the rest at its default', () => {
  const gates = FeatureGates.parse('DownscalePodPicker=false, ');
  expect(gates.enabled('DownscalePodPicker')).toBe(false);
  expect(gates.enabled('PodDeletionCost')).toBe(true);
  expect(new FeatureGates().enabled('DownscalePodPicker')).toBe(true);
});

test.each(['Nope=true', 'DownscalePodPicker', 'DownscalePodPicker=yes', '__proto__=true'])(
  'FeatureGates.parse() refuses %j',
  (text) => {
    expect(() => FeatureGates.parse(text)).toThrow(/Cannot set feature gate/);
  },
);

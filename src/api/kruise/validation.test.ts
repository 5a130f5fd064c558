import { expect, test } from 'vitest';
import { ConversionError, fromV1alpha1, toV1alpha1 } from './conversion.ts';
import type { PodUnavailableBudget, PodUnavailableBudgetSpec } from './types.ts';
import {
  selectorsOverlap,
  validateNoConflict,
  validatePodUnavailableBudget,
  validatePodUnavailableBudgetUpdate,
  warningsOf,
} from './validation.ts';

const budget = (spec: PodUnavailableBudgetSpec, name = 'pub'): PodUnavailableBudget => ({
  metadata: { name, namespace: 'default' },
  spec,
});
const base: PodUnavailableBudgetSpec = { selector: { matchLabels: { app: 'x' } }, maxUnavailable: 1 };
const { selector, ...untargeted } = base;

const refused: [name: string, spec: PodUnavailableBudgetSpec, text: string][] = [
  ['V1 neither selector nor targetRef', untargeted, 'no selector or targetRef defined in PodUnavailableBudget'],
  ['V2 both', { ...base, targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } }, 'mutually exclusive'],
  ['V3 an empty selector', { ...base, selector: {} }, 'empty selector is not valid for PodUnavailableBudget.'],
  [
    'V4 a targetRef without kind',
    { ...untargeted, targetRef: { apiVersion: 'apps/v1', name: 'web' } },
    'empty targetRef is not valid',
  ],
  [
    'V5 both budget fields over pods',
    { ...base, minAvailable: 1 },
    'maxUnavailable and minAvailable are mutually exclusive',
  ],
  ['V7 over 100 %', { ...base, maxUnavailable: '120%' }, 'must not be greater than 100%'],
  [
    'V7 text that is no percentage',
    { ...base, maxUnavailable: '5' },
    'a valid percent string must be a numeric string',
  ],
  ['V7 a negative number', { ...base, maxUnavailable: -1 }, 'must be greater than or equal to 0'],
  ['V13 an unknown operation', { ...base, protectOperations: ['PATCH'] }, 'Unsupported value: "PATCH"'],
  [
    'V16 minReadyReplicas 0',
    { ...base, podGroupPolicy: { groupLabelKey: 'g', minReadyReplicas: 0 } },
    'must be greater than or equal to 1',
  ],
  ['V16 an empty group label key', { ...base, podGroupPolicy: { groupLabelKey: '' } }, 'Invalid value: ""'],
  ['an empty ignoredPodSelector', { ...base, ignoredPodSelector: {} }, 'empty ignoredPodSelector is not valid'],
  [
    'a capacity mode that is not known',
    { ...base, capacityPolicy: { mode: 'Requires' } },
    'Unsupported value: "Requires": supported values: "Require", "Ignore"',
  ],
  ['no budget field', { selector }, 'no maxUnavailable or minAvailable defined'],
];

for (const [name, spec, text] of refused) {
  test(`validatePodUnavailableBudget() refuses ${name}`, () => {
    const issues = validatePodUnavailableBudget(budget(spec));
    expect(issues).toHaveLength(1);
    expect(issues[0]?.message).toContain(text);
    expect(issues[0]?.path).toMatch(/^spec/);
  });
}

test('validatePodUnavailableBudget() V6 accepts both fields over groups, with a warning about the default', () => {
  const grouped = budget({ ...base, minAvailable: 1, podGroupPolicy: { groupLabelKey: 'a/b' } });
  expect(validatePodUnavailableBudget(grouped)).toEqual([]);
  expect(warningsOf(grouped)).toHaveLength(1);
  expect(warningsOf(budget({ ...base, podGroupPolicy: { groupLabelKey: 'a/b', minReadyReplicas: 2 } }))).toEqual([]);
});

test('validatePodUnavailableBudget() V8 accepts maxUnavailable 0', () => {
  expect(validatePodUnavailableBudget(budget({ ...base, maxUnavailable: 0 }))).toEqual([]);
});

test('validatePodUnavailableBudgetUpdate() V9 freezes the selector and nothing else', () => {
  const changed = { ...base, selector: { matchLabels: { app: 'y' } } };
  expect(validatePodUnavailableBudgetUpdate(budget(changed), budget(base))[0]?.message).toContain(
    'selector and targetRef cannot be modified',
  );
  expect(validatePodUnavailableBudgetUpdate(budget({ ...base, maxUnavailable: 2 }), budget(base))).toEqual([]);
});

test('validateNoConflict() V10 and V11: same keys that can hold together overlap, other keys do not', () => {
  const other = [budget(base, 'first')];
  const wide = budget(
    { ...base, selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'y'] }] } },
    'second',
  );
  const narrow = budget({ ...base, selector: { matchLabels: { app: 'x', tier: 'db' } } }, 'third');
  expect(validateNoConflict(wide, other)[0]?.message).toContain('in conflict with other PodUnavailableBudget first');
  expect(validateNoConflict(narrow, other)).toEqual([]);
});

test('validateNoConflict() V12 compares targets without their version', () => {
  const target = (apiVersion: string, name: string) =>
    budget({ ...untargeted, targetRef: { apiVersion, kind: 'Deployment', name: 'web' } }, name);
  expect(validateNoConflict(target('apps/v1beta1', 'b'), [target('apps/v1', 'a')])[0]?.message).toContain(
    'targetReference is in conflict',
  );
});

test('selectorsOverlap() sees that absence and a value exclude each other', () => {
  expect(
    selectorsOverlap({ matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, { matchLabels: { a: 'b' } }),
  ).toBe(false);
});

const alpha = (annotations: Record<string, string>): PodUnavailableBudget => ({
  metadata: { name: 'pub', annotations },
  spec: base,
});

test('fromV1alpha1() V14 reads the operations annotation, trimmed', () => {
  expect(fromV1alpha1(alpha({ 'kruise.io/pub-protect-operations': 'EVICT, DELETE' })).spec?.protectOperations).toEqual([
    'EVICT',
    'DELETE',
  ]);
});

test('fromV1alpha1() V15 refuses unknown words', () => {
  expect(() => fromV1alpha1(alpha({ 'kruise.io/pub-protect-operations': 'PATCH' }))).toThrow(ConversionError);
});

test('a read and write back in v1alpha1 loses nothing', () => {
  const full = budget({
    ...base,
    protectOperations: ['EVICT'],
    protectTotalReplicas: 4,
    ignoredPodSelector: { matchLabels: { a: 'b' } },
    capacityPolicy: { mode: 'Require', reserveFor: '10m', onReserveFailure: 'Proceed' },
    podGroupPolicy: { groupLabelKey: 'g' },
  });
  expect(fromV1alpha1(toV1alpha1(full)).spec).toEqual(full.spec);
});

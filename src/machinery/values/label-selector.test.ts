import { expect, test } from 'vitest';
import { FieldPath } from './field-path.ts';
import { formatIssue } from './issue.ts';
import {
  formatSelector,
  fromLabelSelector,
  matches,
  parseSelector,
  SelectorSyntaxError,
  validateLabelSelector,
} from './label-selector.ts';

const cases: [text: string, labels: Record<string, string>, want: boolean][] = [
  ['', {}, true],
  ['a=b', { a: 'b' }, true],
  ['a==b', { a: 'c' }, false],
  ['a!=b', {}, true],
  ['a!=b', { a: 'b' }, false],
  ['a in (b,c)', { a: 'c' }, true],
  ['a in (b, c)', { a: 'd' }, false],
  ['a notin (b,c)', {}, true],
  ['a', { a: '' }, true],
  ['!a', {}, true],
  ['!a', { a: 'x' }, false],
  ['a>1', { a: '2' }, true],
  ['a<1', { a: '2' }, false],
  ['a=b,c=d', { a: 'b', c: 'd' }, true],
  ['a=b,c=d', { a: 'b' }, false],
  ['example.com/role=web', { 'example.com/role': 'web' }, true],
  ['a=', { a: '' }, true],
];

for (const [text, labels, want] of cases) {
  test(`parseSelector() "${text}" on ${JSON.stringify(labels)} is ${want}`, () => {
    expect(matches(parseSelector(text), labels)).toBe(want);
  });
}

for (const text of ['a=b,', ',a', 'a in b', 'a in (b', '!a=b', 'a=b c', '-x', 'a=(b)', 'a>x']) {
  test(`parseSelector() refuses "${text}"`, () => {
    expect(() => parseSelector(text)).toThrow(SelectorSyntaxError);
  });
}

test('fromLabelSelector() nil selects nothing and {} everything', () => {
  expect(matches(fromLabelSelector(undefined), {})).toBe(false);
  expect(matches(fromLabelSelector({}), {})).toBe(true);
});

test('fromLabelSelector() does not read inherited names as labels', () => {
  const selector = fromLabelSelector({ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] });
  expect(matches(selector, {})).toBe(false);
});

test('formatSelector() sorts keys', () => {
  expect(formatSelector(fromLabelSelector({ matchLabels: { b: '2', a: '1' } }))).toBe('a=1,b=2');
});

test('validateLabelSelector() reports every violated rule with its path', () => {
  const issues = validateLabelSelector(FieldPath.of('spec', 'selector'), {
    matchExpressions: [
      { key: 'a', operator: 'In', values: [] },
      { key: 'b', operator: 'Exists', values: ['x'] },
      { key: '/', operator: 'Near' },
    ],
  });
  expect(issues.map(({ path, rule }) => `${path} ${rule}`)).toEqual([
    'spec.selector.matchExpressions[0].values FieldValueRequired',
    'spec.selector.matchExpressions[1].values FieldValueForbidden',
    'spec.selector.matchExpressions[2].operator FieldValueInvalid',
    'spec.selector.matchExpressions[2].key FieldValueInvalid',
    'spec.selector.matchExpressions[2].key FieldValueInvalid',
    'spec.selector.matchExpressions[2].key FieldValueInvalid',
  ]);
  expect(formatIssue(issues[2] as (typeof issues)[0])).toContain('not a valid selector operator');
});

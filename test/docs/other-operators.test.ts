/** The budgets of the page for people who run other operators, on the kinds and labels that those operators publish. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { apply, startControlPlane } from '../../src/testkit/index.ts';
import { budgetsOfThePage, definitionOf, type PublishedShape, tryBudget } from './operators/budgets.ts';
import { marks, samples } from './operators/samples.ts';

const folder = join(import.meta.dirname, 'operators');
const published = JSON.parse(readFileSync(join(folder, 'published.json'), 'utf8')) as Record<string, PublishedShape>;
const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guide', 'other-operators.md'), 'utf8');
const budgets = budgetsOfThePage();
const shapeOf = (name: string): PublishedShape => {
  const shape = published[name];
  if (shape === undefined) throw new Error(`Nothing published is kept of ${name}`);
  return shape;
};

test('22.3: the page has a budget for each operator, and names the version that it was tried with', () => {
  expect([...budgets.keys()]).toEqual(['leaderworkerset', 'jobset', 'trainer', 'ray', 'volcano', 'kueue']);
  for (const { version } of Object.values(published)) expect(page).toContain(version.slice(1));
});

for (const [name, budget] of budgets) {
  test(`22.3: the budget for ${name} lets one group go, and no second`, async () => {
    await tryBudget(name, budget, definitionOf(shapeOf(name)));
  });
}

test('22.3: labels that budgets select by and pods carry here are those that the operators publish', () => {
  const known = new Set(Object.values(published).flatMap(({ labels }) => Object.values(labels)));
  for (const [name, text] of budgets) {
    const { metadata, spec } = parse(text) as {
      metadata: { annotations: Record<string, string> };
      spec: { selector: { matchLabels: Record<string, string> } };
    };
    const [, label] = /^label:(.+)$/.exec(metadata.annotations['policy.quorate.dev/group-by'] ?? '') ?? [];
    const used = [...Object.keys(spec.selector.matchLabels), ...(label === undefined ? [] : [label])];
    for (const key of [...used, ...Object.keys(marks[name]?.(0, 0).labels ?? {})]) expect(known, name).toContain(key);
  }
  expect(marks['trainer']?.(0, 0).labels['jobset.sigs.k8s.io/replicatedjob-name']).toBe(
    shapeOf('trainer').labels['Node'],
  );
});

test('22.3: a field that the published kind does not have is refused', async () => {
  const plane = await startControlPlane();
  try {
    await apply(plane, [definitionOf(shapeOf('ray')) as never]);
    const sample = samples['ray']?.(0);
    await expect(apply(plane, [{ ...sample, spec: { ...sample?.spec, headGroup: {} } } as never])).rejects.toThrow(
      /headGroup/,
    );
  } finally {
    await plane.stop();
  }
});

test('22.3: kinds that the page says have no scale subresource have none', () => {
  const without = Object.keys(published).filter((name) => !shapeOf(name).scale);
  expect(without).toEqual(expect.arrayContaining(['ray', 'volcano', 'jobset']));
  expect(shapeOf('leaderworkerset').scale).toBe(true);
});

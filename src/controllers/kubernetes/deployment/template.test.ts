import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import { newReplicaSetAnnotations, previousRevision, REVISION, REVISION_HISTORY } from './annotations.ts';
import { deployment, replicaSet } from './fixtures.ts';
import { isSameTemplate, replicaSetName, templateHash } from './template.ts';

const template: PodTemplateSpec = {
  metadata: { labels: { app: 'web', tier: 'x' } },
  spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Always' },
};

test('templateHash() looks at content, not at key order or spelled-out emptiness', () => {
  const shuffled = {
    spec: { restartPolicy: 'Always', containers: [{ image: 'i', name: 'c', args: [] }], volumes: [] },
    metadata: { creationTimestamp: null as unknown as undefined, labels: { tier: 'x', app: 'web' } },
  } as PodTemplateSpec;
  expect(templateHash(shuffled)).toBe(templateHash(template));
  expect(isSameTemplate(shuffled, template)).toBe(true);
});

test('templateHash() is stable across releases', () => {
  expect(templateHash(template)).toMatchInlineSnapshot(`"787f6dffcc"`);
  expect(templateHash(template, 1)).toMatchInlineSnapshot(`"6bc89c6bb8"`);
});

test('templateHash() differs for another template and for another collision count', () => {
  const other = { ...template, spec: { ...template.spec, containers: [{ name: 'c', image: 'j' }] } };
  const hashes = [templateHash(template), templateHash(other), templateHash(template, 1), templateHash(template, 2)];
  expect(new Set(hashes).size).toBe(4);
});

test('R17 a long Deployment name is cut to make room for the hash', () => {
  const name = replicaSetName('d'.repeat(250), 'abcdefghij');
  expect(name).toHaveLength(253);
  expect(name.endsWith('d-abcdefghij')).toBe(true);
  expect(replicaSetName('web', 'abc')).toBe('web-abc');
});

test('a revision only ever rises, and leaves its former value in the history', () => {
  const former = replicaSet({ size: 1, revision: 2 });
  expect(newReplicaSetAnnotations(deployment(1), former, 5n)).toMatchObject({
    [REVISION]: '5',
    [REVISION_HISTORY]: '2',
  });
  expect(newReplicaSetAnnotations(deployment(1), replicaSet({ size: 1, revision: 9 }), 5n)).toEqual({
    [REVISION]: '9',
  });
});

test('revisions beyond 53 bits keep every digit', () => {
  const adopted = replicaSet({ size: 1 });
  adopted.metadata.annotations = { [REVISION]: '3546343826724305832' };
  expect(newReplicaSetAnnotations(deployment(1), adopted, 3546343826724305833n)[REVISION]).toBe('3546343826724305833');
  expect(previousRevision([adopted, replicaSet({ size: 1, revision: 7 })])).toBe(7n);
});

test('the history drops its oldest entries beyond 2000 characters', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 900 }), (rounds) => {
      let current = replicaSet({ size: 1, revision: 1 });
      for (let revision = 2; revision <= rounds; revision += 1) {
        const annotations = newReplicaSetAnnotations(deployment(1), current, BigInt(revision * 1000));
        current = { ...current, metadata: { ...current.metadata, annotations } };
      }
      const history = current.metadata.annotations?.[REVISION_HISTORY] ?? '';
      expect(history.length).toBeLessThanOrEqual(2000);
      if (rounds > 2) expect(history.endsWith(String((rounds - 1) * 1000))).toBe(true);
    }),
    { numRuns: 10 },
  );
});

test('annotations that belong to one object are not copied', () => {
  const made = deployment(1);
  made.metadata.annotations = { a: '1', [REVISION]: '8', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  expect(newReplicaSetAnnotations(made, replicaSet({ size: 1 }), 1n)).toEqual({ a: '1', [REVISION]: '1' });
});

/** Issue 17, point 11: inputs whose cost once had no bound. */
import type { Attack } from '../harness/index.ts';
import { CONFIG_MAPS, times } from './bodies.ts';
import { definitions } from './definitions.ts';
import { objects, ownerReferences } from './objects.ts';
import { jsonPatches, otherPatches } from './patches.ts';
import { one } from './request.ts';
import { yaml } from './yaml.ts';

const reads: readonly Attack[] = [
  one('selector: as long as a URL may be', () => ({
    method: 'GET',
    path: `${CONFIG_MAPS}?labelSelector=${encodeURIComponent(times(1500, (at) => `a${at}`).join(','))}`,
  })),
  one('field selector: as long as a URL may be', () => ({
    method: 'GET',
    path: `${CONFIG_MAPS}?fieldSelector=${encodeURIComponent(times(600, () => 'metadata.name=a').join(','))}`,
  })),
  one('continue: a token of 8 KB', () => ({
    method: 'GET',
    path: `${CONFIG_MAPS}?limit=1&continue=${'A'.repeat(8000)}`,
  })),
];

/**
 * Legal requests that cost what the real server pays as well. They are bounded and linear, and large writes let others
 * have their turn between their parts, but one part alone can take longer than 50 ms.
 */
const LONG: Readonly<Record<string, string>> = {
  '17.11 JSON patch: 400 moves of a map of 20,000': 'the result is compared and recorded as a whole',
  '17.11 JSON patch: 10,000 copies of a map of 20,000': 'copies are bounded by their number of values',
  '17.11 JSON: a key of 2 MB': 'the warning that names it is built from it',
  '17.11 JSON: a config map of 50,000 entries': 'the record of who set what is one walk over 50,000 fields',
  '17.11 JSON: 60,000 finalizers': 'each finalizer is validated, in one walk',
  '17.11 merge patch: 50,000 entries': 'the record of who set what is one walk over 50,000 fields',
  '17.11 CRD: a set of 40,000':
    'checking the schema, recording who set what and answering are one walk over 40,000 items each',
  '17.11 protobuf: a pod of 500,000 empty containers':
    'the first 10,000 are read until the list is too long; above 50 ms only where that code has not run before',
  '17.11 YAML: a list of 2 MB, an item a line': 'the thread that reads YAML is started, and counts as well',
  '17.11 YAML: aliases of a large list': 'the thread that reads YAML counts as well: this server waits for it',
  '17.11 apply: a config map of 40,000 entries': 'server-side apply compares 40,000 fields in one walk',
  '17.11 apply: 40,000 entries again by another manager': 'server-side apply compares 40,000 fields in one walk',
  '17.11 CEL: a policy of n³ over a list': 'an evaluation may cost what it may on the real server',
  '17.11 CRD: a schema of 30,000 properties': 'the schema is checked in one walk',
};

const all: readonly Attack[] = [
  { name: 'nothing at all, for comparison', run: async () => 'idle' },
  ...jsonPatches,
  ...yaml,
  ...objects,
  ...otherPatches,
  ...definitions,
  ...reads,
  ...ownerReferences,
];

export const costAttacks: readonly Attack[] = all.map((attack) => {
  const knownLong = LONG[attack.name];
  return knownLong === undefined ? attack : { ...attack, knownLong };
});

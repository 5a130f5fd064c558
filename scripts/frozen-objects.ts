/**
 * Caches hand the same object to everybody. In tests these objects are frozen, and a bug that is caught so that a
 * controller goes on, such as a handler that tries to change one, fails the test in which it shows.
 */
import { afterEach } from 'vitest';
import { onDefect } from '../src/machinery/runtime/index.ts';
import { freezeSharedObjects } from '../src/machinery/values/index.ts';

const defects: Error[] = [];
freezeSharedObjects();
onDefect((error) => defects.push(error));

afterEach(() => {
  const [first] = defects.splice(0);
  if (first !== undefined) throw first;
});

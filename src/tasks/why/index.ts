/** `quorate why`: explains with the same functions that answer evictions. Reads a cluster, changes nothing. */
export { explainEverything, type Overview } from './everything.ts';
export { explainTarget } from './explain.ts';

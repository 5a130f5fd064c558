import { DocumentError, readFormat } from '../documents/read-document.ts';
import { PLAN_FORMAT, PLAN_VERSION, type PlannedDrain } from './plan.ts';

/** Reads what `quorate plan drain -o json` has written. */
export function readPlanFile(file: string): PlannedDrain {
  const planned = readFormat<PlannedDrain>(file, {
    format: PLAN_FORMAT,
    version: PLAN_VERSION,
    what: 'a drain plan (quorate plan drain … -o json > FILE makes one)',
  });
  if (!Array.isArray(planned.nodes) || !Array.isArray(planned.plan?.steps) || typeof planned.pods !== 'object') {
    throw new DocumentError(`Cannot use ${file}: parts of the plan are missing`);
  }
  return planned as PlannedDrain;
}

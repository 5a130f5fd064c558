import type { Plan } from './plan.ts';

/**
 * Looks for a smaller plan that still fails: without some of what happens, with fewer objects. Removes ever smaller runs
 * of steps, as delta debugging does. Tries no more plans than allowed.
 */
export async function shrink(
  plan: Plan,
  fails: (smaller: Plan) => Promise<boolean>,
  { tries = 80 }: { tries?: number } = {},
): Promise<Plan> {
  let best = plan;
  let left = tries;
  const attempt = async (smaller: Plan): Promise<boolean> => {
    if (left <= 0) return false;
    left -= 1;
    if (!(await fails(smaller))) return false;
    best = smaller;
    return true;
  };
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < best.steps.length; ) {
      const steps = [...best.steps.slice(0, from), ...best.steps.slice(from + size)];
      if (!(await attempt({ ...best, steps }))) from += size;
    }
  }
  while (best.gangs.length > 1 && (await attempt({ ...best, gangs: best.gangs.slice(0, -1) })));
  while (best.plain > 1 && (await attempt({ ...best, plain: best.plain - 1 })));
  return best;
}

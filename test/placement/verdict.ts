import { CLASSES, type Compared } from './compare.ts';

/** Why we may miss a yes of the scheduler: a closed list. */
const ALLOWED = /^(DependsOnOrder|SearchLimit|NotChecked\(.*\))$/;
const MISSED_SHARE = 0.01;
const CAREFUL_SHARE = 0.05;
/** Of fewer clusters a share says nothing: one draw more or less decides it. What is wrong by itself is told of always. */
const ENOUGH_FOR_SHARES = 200;

/** What breaks the contract; empty when all is well. */
export function complaints(results: readonly Compared[]): string[] {
  const of = (name: Compared['class']): readonly Compared[] => results.filter((one) => one.class === name);
  const seeds = (list: readonly Compared[]): string => list.map(({ seed }) => seed).join(', ');
  const found: string[] = [];
  const falseYes = of('FalseYes');
  if (falseYes.length > 0) found.push(`yes where the scheduler says no: seeds ${seeds(falseYes)}`);
  const missed = [...of('FalseNo'), ...of('Shy')];
  const unexplained = missed.filter(({ reason }) => !ALLOWED.test(reason));
  if (unexplained.length > 0) found.push(`no, without a reason we may have: seeds ${seeds(unexplained)}`);
  if (results.length >= ENOUGH_FOR_SHARES) {
    const allowed = Math.floor(results.length * MISSED_SHARE);
    if (missed.length > allowed) found.push(`${missed.length} yeses of the scheduler missed, allowed are ${allowed}`);
    const careful = of('Careful');
    if (careful.length > results.length * CAREFUL_SHARE) {
      found.push(`${careful.length} answers are "cannot tell" where the scheduler says no`);
    }
  }
  if (of('NoAnswer').length > 0) found.push(`no answer of the scheduler: seeds ${seeds(of('NoAnswer'))}`);
  return found;
}

export function tableOf(results: readonly Compared[]): string {
  const lines = CLASSES.map((name) => {
    const list = results.filter((one) => one.class === name);
    const reasons = new Map<string, number>();
    for (const { reason } of list) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    const why = [...reasons].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${reason} ${count}`);
    return `  ${name.padEnd(9)} ${String(list.length).padStart(5)}  ${why.join(', ')}`;
  });
  return lines.join('\n');
}

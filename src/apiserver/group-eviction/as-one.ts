import { targetAsOne } from '../../decisions/group-eviction/index.ts';
import type { AskNotice, EvictAsOne } from '../eviction/index.ts';
import { askBudgets, carryOut, type EvictionParts, type GroupAsked } from './settle.ts';

/**
 * Answers plain evictions of members of a group that may only be disrupted together: all budgets are asked for all of it.
 * Where they agree the others go in the same transaction, or are told first where a policy wants that.
 */
export function asOneEvictor(parts: EvictionParts, askNotice: AskNotice): EvictAsOne {
  return (eviction, transaction) => {
    const { dryRun, gracePeriodSeconds, name, namespace, now, user } = eviction;
    const pod = parts.index.pod(namespace, name);
    if (pod === undefined || parts.index.asOne(namespace, name) === undefined) return undefined;
    const spec = { ...targetAsOne(pod), ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) };
    const asked: GroupAsked = { namespace, spec, username: user.username, dryRun, nowMs: now, evicted: name };
    // A group that is told already has what it needs from its budgets.
    const isTold = parts.index.noticeOn(namespace, name)?.running !== undefined;
    const granted = isTold ? undefined : askBudgets(parts, asked);
    const told = askNotice(eviction, transaction);
    if (told !== undefined) return { told };
    if (!dryRun) carryOut(parts, transaction, { ...asked, ...(granted ?? askBudgets(parts, asked)) });
    return {};
  };
}

/**
 * Whether a group can still be had: `scheduled` members have a place, `remaining` have not been tried.
 * A basic group asks for one.
 */
export type Feasibility = 'Impossible' | 'NotYet' | 'Satisfied';

export function feasibility(needed: number, scheduled: number, remaining: number): Feasibility {
  if (scheduled + remaining < needed) return 'Impossible';
  return scheduled < needed ? 'NotYet' : 'Satisfied';
}

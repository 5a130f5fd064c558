/** How a group stands, as one of six marks that differ in shape and in colour. */
export const MARKS = ['broken', 'going', 'placing', 'minimum', 'spare', 'whole'] as const;
export type Mark = (typeof MARKS)[number];

export interface GroupCount {
  /** Members that are Ready and stay. */
  readonly healthy: number;
  /** Fewer healthy members, and the group is down. */
  readonly needed: number;
  readonly members: number;
  /** Members on their way out. */
  readonly going: number;
  /** Members that have no node yet, or have one and have not started. */
  readonly starting: number;
}

/**
 * First that applies: a member leaves (going); below its minimum because members are still being placed or started
 * (placing); below its minimum (broken); more than its minimum (spare); exactly at it although it has more members
 * (minimum); all of its members are there, and it needs each (whole).
 */
export function markOf({ going, healthy, members, needed, starting }: GroupCount): Mark {
  if (going > 0) return 'going';
  if (healthy < needed) return starting > 0 && healthy + starting >= needed ? 'placing' : 'broken';
  if (healthy > needed) return 'spare';
  return members > needed ? 'minimum' : 'whole';
}

export const MARK_WORDS: Readonly<Record<Mark, { readonly label: string; readonly means: string }>> = {
  whole: { label: 'Whole', means: 'all members are healthy, and it needs each of them' },
  spare: { label: 'Spare', means: 'more healthy members than it needs' },
  minimum: { label: 'At its minimum', means: 'it has lost its spare members; one more and it is down' },
  placing: { label: 'Placing', means: 'members are being placed or started' },
  going: { label: 'Going', means: 'members are on their way out' },
  broken: { label: 'Broken', means: 'fewer healthy members than it needs: it does not serve' },
};

/** A member of a unit that room is held for. */
export interface HoldMember {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly going: boolean;
  /** Serves. */
  readonly up: boolean;
  /** Made after the room was held. */
  readonly isNew: boolean;
  readonly nominated: string;
}

/** A pod that holds room, or waits for the scheduler to put it where it is to. */
export interface HoldingPod {
  readonly name: string;
  /** Empty while it waits. */
  readonly node: string;
  readonly going: boolean;
  readonly createdAt: number;
}

/** The scheduler puts a pinned pod where it belongs at once, or finds that the room is gone. */
const BOUND_WITHIN_MS = 60_000;

export interface HoldState {
  readonly placeholders: readonly HoldingPod[];
  /** UID of the pod whose eviction was granted. */
  readonly grant: string;
  /** Places that were held at first. */
  readonly size: number;
  readonly until: number;
  /** Placeholders that were there and have gone by themselves. */
  readonly missing: number;
  readonly members: readonly HoldMember[];
  /** Members that make the unit whole. */
  readonly minCount: number;
  readonly now: number;
}

export type HoldDecision =
  | { readonly action: 'Keep' }
  | { readonly action: 'Release'; readonly reason: 'Whole' | 'Expired' | 'NotNeeded' | 'NotBound' }
  /** Placeholders are gone that nobody here gave back: others have the room. */
  | { readonly action: 'Lost' }
  /** Members are promised places that were held for them, and the placeholders there go. */
  | {
      readonly action: 'HandOver';
      readonly nominations: readonly { readonly pod: string; readonly node: string }[];
      readonly release: readonly string[];
    };

/**
 * What becomes of room that is held for a unit. Rules, first match wins:
 *  1. it is whole again after one of its pods has gone: the room is given back
 *  2. its time is over: given back, whole or not; not needed where nothing of it has gone
 *  3. a placeholder has found no place for a minute: all are given back
 *  4. placeholders are gone that nobody here gave back: their room is lost
 *  5. enough members exist: those that wait for a node are promised a place each, and for every member that has one, here
 *     or elsewhere, a placeholder goes
 *  6. otherwise it is kept
 */
export function decideHold(state: HoldState): HoldDecision {
  const { grant, members, minCount, now, until } = state;
  const staying = members.filter(({ going }) => !going);
  const back = staying.filter(({ isNew, node, up }) => up || (isNew && node !== ''));
  // Not before something of it has gone: a client that was told to wait may ask for another of its pods next.
  const hasBegun = staying.every(({ uid }) => uid !== grant) || staying.some(({ isNew }) => isNew);
  if (hasBegun && back.length >= minCount) return { action: 'Release', reason: 'Whole' };
  if (until <= now) return { action: 'Release', reason: back.length >= minCount ? 'NotNeeded' : 'Expired' };
  if (
    state.placeholders.some(({ createdAt, going, node }) => node === '' && !going && createdAt + BOUND_WITHIN_MS <= now)
  )
    return { action: 'Release', reason: 'NotBound' };
  // What is on its way out may be followed by more: they are looked at together.
  if (hasBegun && state.missing > 0 && !state.placeholders.some(({ going }) => going)) return { action: 'Lost' };
  return staying.length < minCount ? { action: 'Keep' } : handOver(state, staying);
}

function handOver({ placeholders, size }: HoldState, staying: readonly HoldMember[]): HoldDecision {
  const standing = placeholders.filter(({ going, node }) => !going && node !== '');
  const held = standing.map(({ name, node }) => ({ name, node }));
  const waiting = staying.filter(({ node }) => node === '').sort((a, b) => (a.name < b.name ? -1 : 1));
  const placed = staying.filter(({ isNew, node }) => isNew && node !== '').length;
  const promised = waiting.flatMap(({ nominated }) => (nominated === '' ? [] : [nominated]));
  const take = (node: string): string[] => {
    const at = held.findIndex((one) => one.node === node);
    return at < 0 ? [] : held.splice(at, 1).map(({ name }) => name);
  };
  // A promise of before whose placeholder is gone already takes no other.
  const open = Math.max(0, held.length - Math.max(0, size - placed - promised.length));
  const release = [...promised.flatMap(take), ...held.splice(0).map(({ name }) => name)].slice(0, open);
  const left = standing.filter(({ name }) => !release.includes(name));
  const unpromised = waiting.filter(({ nominated }) => nominated === '');
  const nominations = unpromised.flatMap(({ name }, at) => {
    const node = left[at]?.node;
    return node === undefined ? [] : [{ pod: name, node }];
  });
  release.push(...left.slice(0, nominations.length).map(({ name }) => name));
  return nominations.length + release.length === 0 ? { action: 'Keep' } : { action: 'HandOver', nominations, release };
}

import { HISTORY_LIMITS, type HistoryEntry, type HistoryWay } from '../../api/quorate/disruption-history.ts';
import { formatMicroTime, parseTime } from '../../machinery/values/index.ts';
import type { GivenAnswer } from './answers.ts';
import { causeOf, type PodDeparture, type FoundCause, isEvicted, lossCause } from './cause.ts';
import { asBefore, close, groupOfAnswer, isSameCause, isSingle, lastTime, seconds } from './entry.ts';
import { type GroupLook, Outage } from './outage.ts';
import { RefusalBook } from './refusals.ts';

/** Pods of one group that go so close to each other by one cause are one entry. */
const MERGE_MS = 30_000;
/** An admitted delete says for so long who deleted. */
const DELETED_MS = 60_000;
/** A departure that was let pass and is not carried out by then never will be. */
const GRANT_MS = 5 * 60_000;
/** Pods that went are known for so long, so that none is entered twice. */
const REMEMBER_MS = 60 * 60_000;
/** An outage that nothing was entered for by then is none. */
const UNCLAIMED_MS = 60_000;
const ASKED_WAYS = new Set<HistoryWay>(['Eviction', 'GroupEviction', 'EvictionRequest', 'Maintenance']);

export interface RecorderOptions {
  /** Ends every id, so that those of two writers differ. */
  readonly writer: string;
  readonly isOurs?: ((who: string) => boolean) | undefined;
}

/** What happened to an entry, for metrics and Events. */
export interface RecordNews {
  readonly entry: HistoryEntry;
  readonly what: 'New' | 'Repeated' | 'Ended';
}

/**
 * Makes the record out of what is seen: answers, pods that go, groups that get down and whole again. It knows no clock and
 * writes nothing; whoever keeps it takes what changed, and tells it what was written before when it begins anew.
 */
export class DisruptionRecorder {
  readonly #options: RecorderOptions;
  readonly #refusals: RefusalBook;
  readonly #entries = new Map<string, HistoryEntry>();
  readonly #changed = new Set<string>();
  readonly #news: RecordNews[] = [];
  readonly #answers = new Map<string, GivenAnswer>();
  readonly #groupAnswers = new Map<string, GivenAnswer>();
  readonly #known = new Map<string, { readonly at: number; readonly id: string }>();
  /** Pods that were lost and are still there, by uid, with their entries. */
  readonly #lost = new Map<string, string>();
  readonly #latest = new Map<string, HistoryEntry>();
  readonly #looks = new Map<string, GroupLook>();
  readonly #outages = new Map<string, Outage>();
  #count = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#refusals = new RefusalBook((at) => this.#id(at));
  }

  /** Whether an entry may still change. */
  keeps(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Whether this pod's departure is entered already. */
  knows(uid: string): boolean {
    return this.#known.has(uid);
  }

  /** Takes over an entry that was written before. */
  resume(entry: HistoryEntry, members: number): void {
    const at = parseTime(entry.lastAt ?? entry.at) ?? 0;
    if (entry.outcome !== 'Refused') for (const { uid } of entry.pods) this.#known.set(uid, { at, id: entry.id });
    if (entry.outcome === 'Refused') return;
    this.#entries.set(entry.id, entry);
    const latest = this.#latest.get(entry.group);
    if (latest === undefined || latest.at <= entry.at) this.#latest.set(entry.group, entry);
    const downAt = parseTime(entry.downAt);
    if (entry.end !== 'Open' || entry.during !== undefined || downAt === undefined) return;
    const outage = new Outage({ downAt, members, podMs: (entry.podSeconds ?? 0) * 1000 });
    outage.entry = entry.id;
    this.#outages.set(entry.group, outage);
  }

  /** Gives the entry of a refusal. */
  answered(answer: GivenAnswer, group: string | undefined): HistoryEntry | undefined {
    if (!answer.allowed) {
      const { entry, isNew } = this.#refusals.enter(answer, group ?? groupOfAnswer(answer));
      this.#entries.set(entry.id, entry);
      this.#note(entry, isNew ? 'New' : 'Repeated');
      return entry;
    }
    this.#allowed(answer, group);
    return undefined;
  }

  #allowed(answer: GivenAnswer, group: string | undefined): void {
    const { pod } = answer;
    if (pod === undefined) {
      this.#groupAnswers.set(group ?? groupOfAnswer(answer), answer);
      return;
    }
    if (pod.uid === '') return;
    // The kubelet deletes in the end what somebody else deleted or evicted before: the first one says who it was.
    const before = this.#answers.get(pod.uid);
    const isAgain = before !== undefined && (before.kind !== 'Delete' || answer.at - before.at <= DELETED_MS);
    if (answer.kind !== 'Delete' || !isAgain) this.#answers.set(pod.uid, answer);
    this.learn(answer);
  }

  /** Who let something go that went already, as another replica says. */
  learn(answer: GivenAnswer): void {
    const { kind, pod } = answer;
    const entry = pod === undefined ? this.#latest.get(groupOfAnswer(answer)) : this.#entryOf(pod.uid);
    if (entry === undefined || entry.who !== undefined) return;
    const isEviction = ASKED_WAYS.has(entry.way);
    if (pod === undefined ? !isEviction : kind === 'Delete' && isEviction) return;
    this.#name(entry, answer);
  }

  /** A group at this moment. Told at every event of its members; what takes it down is told by `went` or `lost`. */
  look(group: string, look: GroupLook, now: number): void {
    const outage = this.#outages.get(group);
    outage?.look(look, now);
    const before = this.#looks.get(group);
    this.#looks.set(group, look);
    const isDown = !look.isWhole || (look.together && look.going > 0);
    const wasUp = before !== undefined && before.isWhole && !(before.together && before.going > 0);
    if (outage !== undefined || !isDown || !wasUp) return;
    const begun = new Outage({ downAt: now, members: before.ready });
    begun.look(look, now);
    this.#outages.set(group, begun);
  }

  /** A group that got down while nobody looked. One that is known to be whole is not down any more. */
  beganUnseen(group: string, downAt: number, members: number): void {
    if (this.#outages.has(group) || this.#looks.get(group)?.isWhole === true) return;
    this.#outages.set(group, new Outage({ downAt, members, podMs: 0 }));
  }

  /** Groups that have to be looked at again, because time alone may end what was begun. */
  get open(): readonly string[] {
    return [...this.#outages.keys()];
  }

  isOpen(group: string): boolean {
    return this.#outages.has(group);
  }

  /** The entry that a group is down for. */
  entryOfOpen(group: string): HistoryEntry | undefined {
    return this.#entries.get(this.#outages.get(group)?.entry ?? '');
  }

  /** Drops what is known of a group that nothing is the matter with. */
  forget(group: string): void {
    if (!this.#outages.has(group)) this.#looks.delete(group);
  }

  /** A pod went, or is on its way. */
  went(departure: PodDeparture, now: number): HistoryEntry | undefined {
    const { group, pod } = departure;
    if (this.#known.has(pod.uid)) return undefined;
    const answer = this.#answers.get(pod.uid);
    const deleted = answer?.kind === 'Delete' && now - answer.at <= DELETED_MS ? answer : undefined;
    const single = answer === undefined || answer.kind === 'Delete' ? undefined : answer;
    const granted = single ?? (isEvicted(departure) ? this.#groupAnswers.get(group) : undefined);
    const isOurs = this.#options.isOurs ?? (() => false);
    const latest = this.#latest.get(group);
    const isNear = latest !== undefined && Math.abs(departure.at - lastTime(latest)) <= MERGE_MS;
    // What an owner removes after a member of the group went is a part of that.
    const found =
      causeOf(departure, { granted, deleted, isOurs }) ?? (isNear ? asBefore(latest, departure) : undefined);
    if (found === undefined) {
      // That a pod on its own is not replaced is then no outage.
      if (isSingle(group) && this.#outages.get(group)?.entry === undefined) this.#outages.delete(group);
      return undefined;
    }
    this.#answers.delete(pod.uid);
    const before = this.#lostFor(departure, found);
    if (before !== undefined) {
      this.#known.set(pod.uid, { at: now, id: before.id });
      return before;
    }
    const entry =
      isNear && isSameCause(latest, found) && this.#mayJoin(latest, group)
        ? this.#join(latest, departure)
        : this.#enter(departure, found);
    this.#known.set(pod.uid, { at: now, id: entry.id });
    return entry;
  }

  /** A Ready member is lost with its pod still there. It counts where that took the group down. */
  lost(departure: PodDeparture): HistoryEntry | undefined {
    const outage = this.#outages.get(departure.group);
    if (outage === undefined || outage.entry !== undefined) return undefined;
    const entry = this.#enter(departure, lossCause(departure));
    this.#lost.set(departure.pod.uid, entry.id);
    return entry;
  }

  /** The entry of a pod that was lost before, and is removed now because of that: that is no second disruption. */
  #lostFor({ group, pod }: PodDeparture, { outcome, way }: FoundCause): HistoryEntry | undefined {
    const id = this.#lost.get(pod.uid);
    this.#lost.delete(pod.uid);
    const isSame = id !== undefined && this.#outages.get(group)?.entry === id;
    if (!isSame || outcome !== 'Seen' || way === 'Delete' || way === 'Preemption') return undefined;
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    if (entry.way === 'Unknown') entry.way = way;
    this.#changed.add(id);
    return entry;
  }

  /** The last of an entry's pods is gone. */
  gone(uid: string, now: number): void {
    const entry = this.#entryOf(uid);
    if (entry === undefined) return;
    entry.goneAt = formatMicroTime(now);
    this.#changed.add(entry.id);
  }

  /** Time passed: ends what is whole again, and gives up grants that nobody carried out. */
  tick(now: number, isThere: (namespace: string, name: string, uid: string) => boolean): void {
    for (const [group, outage] of this.#outages) {
      const ended = outage.endedBy(now);
      // A pod on its own that was not wanted any more is never replaced.
      const isNothing = outage.entry === undefined && isSingle(group) && now - outage.downAt > UNCLAIMED_MS;
      if (ended === undefined && !isNothing) continue;
      this.#outages.delete(group);
      if (ended === undefined) continue;
      const entry = outage.entry === undefined ? undefined : this.#entries.get(outage.entry);
      if (entry === undefined) continue;
      close(entry, outage, ended);
      this.#note(entry, 'Ended');
      for (const other of this.#entries.values()) {
        if (other.during !== entry.id) continue;
        other.end = ended.end;
        this.#changed.add(other.id);
      }
    }
    for (const [uid, answer] of this.#answers) {
      if (now - answer.at <= GRANT_MS) continue;
      this.#answers.delete(uid);
      const { name = '' } = answer.pod ?? {};
      if (answer.kind === 'Eviction' && isThere(answer.namespace, name, uid)) this.#expire(answer);
    }
    for (const [group, { at }] of this.#groupAnswers) if (now - at > GRANT_MS) this.#groupAnswers.delete(group);
    for (const [uid, { at }] of this.#known) if (now - at > REMEMBER_MS) this.#known.delete(uid);
    for (const [uid, id] of this.#lost) if (!this.#entries.has(id)) this.#lost.delete(uid);
    for (const [id, entry] of this.#entries) {
      const isOld = now - lastTime(entry) > REMEMBER_MS && entry.end !== 'Open';
      if (isOld && !this.#changed.has(id)) this.#drop(entry);
    }
  }

  /** Entries that are new or were changed since they were last taken, the oldest first. */
  takeChanged(now: number): HistoryEntry[] {
    const taken = [...this.#changed].flatMap((id) => this.#entries.get(id) ?? []);
    this.#changed.clear();
    for (const entry of taken) {
      const outage = this.#outages.get(entry.group);
      if (outage?.entry === entry.id) entry.podSeconds = seconds(outage.podMsAt(now));
    }
    return taken.sort((a, b) => (a.id < b.id ? -1 : 1)).map((entry) => ({ ...entry, pods: [...entry.pods] }));
  }

  /** They could not be written: they are taken again. */
  giveBack(entries: readonly HistoryEntry[]): void {
    for (const { id } of entries) if (this.#entries.has(id)) this.#changed.add(id);
  }

  takeNews(): RecordNews[] {
    return this.#news.splice(0);
  }

  #enter(departure: PodDeparture, found: FoundCause): HistoryEntry {
    const { at, group, namespace, owner, pod } = departure;
    const current = this.#outages.get(group);
    // A group that was down for long is down for another reason.
    const isOlder = current !== undefined && current.entry === undefined && at - current.downAt > MERGE_MS;
    const outage = isOlder ? undefined : current;
    const entry: HistoryEntry = {
      id: this.#id(at),
      at: formatMicroTime(at),
      ...(found as Pick<HistoryEntry, 'outcome' | 'way' | 'voluntary'>),
      namespace,
      group,
      ...(owner !== undefined && { owner }),
      pods: [pod],
      podsTotal: 1,
      lastAt: formatMicroTime(at),
    };
    if (outage === undefined) {
      // What was not needed, or not up, takes nothing down.
      Object.assign(entry, { groupSeconds: 0, podSeconds: 0, end: 'Whole' });
    } else if (outage.entry === undefined) {
      outage.entry = entry.id;
      Object.assign(entry, { downAt: formatMicroTime(outage.downAt), end: 'Open' });
    } else {
      Object.assign(entry, { groupSeconds: 0, podSeconds: 0, end: 'Open', during: outage.entry });
    }
    this.#entries.set(entry.id, entry);
    this.#latest.set(group, entry);
    this.#note(entry, 'New');
    return entry;
  }

  /** What was whole again in between is another disruption. */
  #mayJoin(entry: HistoryEntry, group: string): boolean {
    const outage = this.#outages.get(group);
    if (outage === undefined) return true;
    return outage.entry === undefined ? entry.downAt === undefined : [entry.id, entry.during].includes(outage.entry);
  }

  #join(entry: HistoryEntry, { at, group, pod }: PodDeparture): HistoryEntry {
    entry.podsTotal += 1;
    if (entry.pods.length < HISTORY_LIMITS.pods) entry.pods.push(pod);
    entry.lastAt = formatMicroTime(Math.max(at, lastTime(entry)));
    const outage = this.#outages.get(group);
    // The first pods were surplus, this one was not.
    if (outage !== undefined && outage.entry === undefined && entry.downAt === undefined) {
      outage.entry = entry.id;
      delete entry.groupSeconds;
      delete entry.podSeconds;
      Object.assign(entry, { downAt: formatMicroTime(outage.downAt), end: 'Open' });
    }
    this.#changed.add(entry.id);
    return entry;
  }

  /** Another replica says who asked, after the pod went. */
  #name(entry: HistoryEntry, { judged = false, kind, who }: GivenAnswer): void {
    entry.who = who;
    if (entry.way === 'Unknown') {
      const isGranted = kind !== 'Delete' || judged;
      Object.assign(entry, { way: kind, outcome: isGranted ? 'Granted' : 'Seen', voluntary: isGranted });
    }
    this.#changed.add(entry.id);
  }

  #expire(answer: GivenAnswer): void {
    const { name = '', uid = '' } = answer.pod ?? {};
    const entry: HistoryEntry = {
      id: this.#id(answer.at),
      at: formatMicroTime(answer.at),
      outcome: 'Expired',
      way: 'Eviction',
      voluntary: true,
      who: answer.who,
      namespace: answer.namespace,
      group: groupOfAnswer(answer),
      pods: [{ name, uid }],
      podsTotal: 1,
    };
    this.#entries.set(entry.id, entry);
    this.#note(entry, 'New');
  }

  #note(entry: HistoryEntry, what: RecordNews['what']): void {
    this.#changed.add(entry.id);
    this.#news.push({ entry, what });
  }

  #entryOf(uid: string): HistoryEntry | undefined {
    return this.#entries.get(this.#known.get(uid)?.id ?? '');
  }

  #drop(entry: HistoryEntry): void {
    this.#entries.delete(entry.id);
    if (this.#latest.get(entry.group) === entry) this.#latest.delete(entry.group);
  }

  #id(at: number): string {
    this.#count += 1;
    const order = this.#count.toString(36).padStart(4, '0').slice(-4);
    return `${Math.max(0, Math.floor(at)).toString(36).padStart(9, '0')}-${order}-${this.#options.writer}`;
  }
}

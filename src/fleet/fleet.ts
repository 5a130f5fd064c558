/** What the page knows of a cluster, held in the same indexes that answer evictions. */
import type { Node, Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { LeaderWorkerSet } from '../api/lws/types.ts';
import type { DisruptionLedger } from '../api/quorate/types.ts';
import { type KubeObject, keyOf } from '../api/resource.ts';
import type { KnowledgeLine, StreamLine } from '../api/ui/stream.ts';
import type { ExplainedBudgets } from '../decisions/all-budgets/index.ts';
import {
  concernsGroups,
  DisruptionIndex,
  EVERYTHING,
  FED_KINDS,
  guardEverything,
  readBudget,
  readPod,
  takeGroupNumbers,
} from '../decisions/disruption/index.ts';
import { isWholesale, type UnitSources } from '../decisions/drain-question/index.ts';
import { UNAVAILABILITY_KINDS, UnavailabilityFeed } from '../decisions/unavailability/index.ts';
import { GroupBook } from './group-book.ts';

/** What PodUnavailableBudgets guard where nobody has said otherwise; a page cannot see a server's feature gates. */
const GATES = { deletes: true, updates: false, groups: true, verticalScaling: false };

/** The stream tells the kind of an object and not its API group; of two rows for one kind the first serves. */
const FED = new Map(FED_KINDS.toReversed().map((row) => [row.kind, row]));
const GUARDED = new Map(UNAVAILABILITY_KINDS.map((row) => [row.kind, row]));
const keyAt = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`);

export class Fleet {
  readonly index = new DisruptionIndex();
  /** The same pods under one budget for each namespace that selects everything: groups nobody guards too. */
  readonly every = new DisruptionIndex();
  readonly unavailability = new UnavailabilityFeed();
  readonly nodes = new Map<string, Node>();
  readonly pods = new Map<string, Pod>();
  readonly groups = new GroupBook(this);
  readonly known = new Map<string, KnowledgeLine>();
  /** Every object by kind and key, for a copy. */
  readonly objects = new Map<string, Map<string, KubeObject>>();
  readonly #wholesale = new Set<string>();
  readonly #ledgers = new Map<string, DisruptionLedger>();
  readonly #unsettled = new Set<string>();

  set(kind: string, object: KubeObject): void {
    const { name = '', namespace = '' } = object.metadata;
    const key = keyOf(object);
    this.#objectsOf(kind).set(key, object);
    if (namespace !== '') this.#touch(namespace);
    if (kind === 'LeaderWorkerSet') {
      if (isWholesale(object as LeaderWorkerSet)) this.#wholesale.add(key);
      else this.#wholesale.delete(key);
    }
    if (kind === 'Node') this.nodes.set(name, object as Node);
    else if (kind === 'Namespace') this.unavailability.setNamespace(object);
    else if (kind === 'DisruptionLedger') this.#ledgers.set(key, object as DisruptionLedger);
    else if (kind === 'Pod') this.#setPod(object as Pod, key);
    else {
      const row = FED.get(kind);
      row?.set(this.index, object);
      if (row?.role === 'Group') {
        row.set(this.every, object);
        this.groups.regroup(namespace);
      }
      GUARDED.get(kind)?.set(this.unavailability, object);
    }
  }

  delete(kind: string, namespace: string, name: string): void {
    const key = keyAt(namespace, name);
    this.#objectsOf(kind).delete(key);
    if (namespace !== '') this.#touch(namespace);
    if (kind === 'LeaderWorkerSet') this.#wholesale.delete(key);
    if (kind === 'Node') this.nodes.delete(name);
    else if (kind === 'Namespace') this.unavailability.deleteNamespace(name);
    else if (kind === 'DisruptionLedger') this.#ledgers.delete(key);
    else {
      if (kind === 'Pod') {
        this.groups.forget(key);
        this.pods.delete(key);
      }
      const row = FED.get(kind);
      row?.delete(this.index, namespace, name);
      if (row !== undefined && row.role !== 'Budget') row.delete(this.every, namespace, name);
      if (row?.role === 'Group') this.groups.regroup(namespace);
      GUARDED.get(kind)?.delete(this.unavailability, namespace, name);
    }
  }

  /** Takes in what a line of the stream says of the cluster. */
  hear(said: StreamLine): void {
    if ('set' in said) this.set(said.set, said.object);
    else if ('delete' in said) this.delete(said.delete, said.namespace, said.name);
    else if ('known' in said && said.known !== '*') this.known.set(said.known, said);
  }

  /** Works out what follows from the changes since the last call; ask nothing in between. */
  settle(now: number): void {
    const budgets = this.objects.get('PodDisruptionBudget') as Map<string, PodDisruptionBudget> | undefined;
    for (const budget of budgets?.values() ?? []) {
      const { name = '', namespace = '' } = budget.metadata;
      if (!this.#unsettled.has(namespace)) continue;
      this.index.setBudget(readBudget(budget, this.index.budget(namespace, name)));
      const ledger = this.#ledgers.get(keyAt(namespace, name));
      if (concernsGroups(this.index, budget, now)) takeGroupNumbers(this.index, budget, ledger, now);
    }
    this.#unsettled.clear();
    this.groups.settle(now);
  }

  budgets(now: number): ExplainedBudgets {
    const { index, unavailability } = this;
    return { index, unavailability, now, gates: GATES, operation: 'EVICT', isCordoned: this.isCordoned };
  }

  /** The nodes; for whoever may not list them, those that pods name, of which nothing else is known. */
  shownNodes(): readonly Node[] {
    if (this.known.get('Node')?.how !== 'Forbidden') return [...this.nodes.values()];
    const names = new Set<string>();
    for (const { spec } of this.pods.values()) if (spec?.nodeName) names.add(spec.nodeName);
    return [...names].map((name) => ({ metadata: { name } }));
  }

  readonly isCordoned = (node: string): boolean => this.nodes.get(node)?.spec?.unschedulable === true;

  unitSources(): UnitSources {
    const { every, index, isCordoned, unavailability } = this;
    return { index, unavailability, everyGroup: every, isCordoned, wholesaleSets: this.#wholesale };
  }

  #setPod(pod: Pod, key: string): void {
    const facts = readPod(pod);
    const { namespace } = facts;
    if (this.every.budget(namespace, EVERYTHING) === undefined) guardEverything(this.every, namespace);
    this.pods.set(key, pod);
    this.index.setPod(facts);
    this.every.setPod(facts);
    this.unavailability.setPod(pod);
    this.groups.touch(key);
  }

  #touch(namespace: string): void {
    this.#unsettled.add(namespace);
  }

  #objectsOf(kind: string): Map<string, KubeObject> {
    let objects = this.objects.get(kind);
    if (objects === undefined) this.objects.set(kind, (objects = new Map()));
    return objects;
  }
}

/** A fleet of its own with the same objects. */
export function copyFleet(fleet: Fleet, now: number): Fleet {
  const copy = new Fleet();
  for (const kind of fleet.objects.keys()) {
    if (kind !== 'Pod') for (const object of fleet.objects.get(kind)?.values() ?? []) copy.set(kind, object);
  }
  for (const pod of fleet.pods.values()) copy.set('Pod', pod);
  for (const [kind, line] of fleet.known) copy.known.set(kind, line);
  copy.settle(now);
  return copy;
}

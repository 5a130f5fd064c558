/** One priority level: how many seats it has, who sits, and who waits. */
import type { PriorityLevelConfiguration, QueuingConfiguration } from '../../api/generated/flowcontrol-v1.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import { FairQueues, type Waiting } from './fair-queues.ts';

/** Of all levels together: what a kube-apiserver with default flags takes (400 reads and 200 writes). */
export const SERVER_SEATS = 600;
/** One request may take this part of the seats of its level, so that the others of the level get on. */
const WIDEST = 0.15;
/** Where nothing may wait for a seat; the next turn of the thread is waited for all the same. */
const TURNS_ONLY: QueuingConfiguration = { queues: 1, handSize: 1, queueLengthLimit: SERVER_SEATS };

export class PriorityLevel<T extends Waiting> {
  readonly name: string;
  uid = '';
  isExempt = false;
  /** Refuses what finds no seat. */
  rejects = false;
  shares = 0;
  /** What is its own… */
  nominal = 0;
  /** …how much of that no other level may use… */
  kept = 0;
  /** …and how much it may have with what others lend. */
  most = 0;
  seated = 0;
  /** Virtual time of the levels among one another: how much of the thread it has had, by its shares. */
  used = 0;
  #queuing: QueuingConfiguration = TURNS_ONLY;
  #queues = new FairQueues<T>(TURNS_ONLY);

  constructor(name: string) {
    this.name = name;
  }

  get queues(): FairQueues<T> {
    return this.#queues;
  }

  /** The widest that a request of this level may be. */
  get widest(): number {
    return Math.max(1, Math.ceil(this.nominal * WIDEST));
  }

  /** Returns the waiting requests for which the new queues have no room. */
  configure({ metadata, spec }: PriorityLevelConfiguration, totalShares: number): T[] {
    const { exempt, limited, type } = spec ?? {};
    this.uid = metadata.uid ?? '';
    this.isExempt = type === 'Exempt';
    const {
      borrowingLimitPercent,
      lendablePercent = 0,
      limitResponse,
      nominalConcurrencyShares = 0,
    } = {
      ...(exempt ?? limited),
      borrowingLimitPercent: limited?.borrowingLimitPercent,
      limitResponse: limited?.limitResponse,
    };
    this.rejects = limitResponse?.type === 'Reject';
    this.shares = nominalConcurrencyShares;
    this.nominal = Math.ceil((SERVER_SEATS * this.shares) / Math.max(1, totalShares));
    this.kept = this.nominal - Math.round((this.nominal * lendablePercent) / 100);
    this.most =
      borrowingLimitPercent === undefined
        ? SERVER_SEATS
        : this.nominal + Math.round((this.nominal * borrowingLimitPercent) / 100);
    const queuing = limitResponse?.queuing ?? TURNS_ONLY;
    if (deepEqual(queuing, this.#queuing)) return [];
    this.#queuing = queuing;
    const before = this.#queues;
    this.#queues = new FairQueues(queuing);
    return [...before].filter((request) => !this.#queues.add(request));
  }
}

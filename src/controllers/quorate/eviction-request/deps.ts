import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Eviction, EvictionRequest } from '../../../api/generated/lifecycle-v1alpha1.ts';
import type { GroupEviction } from '../../../api/quorate/group-eviction.ts';
import { type KubeObject, keyOf, type ObjectKey, parseKey } from '../../../api/resource.ts';
import type { EvictionTargetRef, Tries } from '../../../decisions/eviction-requests/index.ts';
import type { Client, Clock, Informer } from '../../../machinery/runtime/index.ts';
import type { GroupLooks } from './groups.ts';

export interface EvictionRequestDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly requests: Informer<EvictionRequest>;
  readonly evictions: Informer<Eviction>;
  readonly pods: Informer<Pod>;
  /** Undefined: groups cannot be evicted whole here. */
  readonly groups: GroupLooks | undefined;
  readonly groupEvictions: Informer<GroupEviction> | undefined;
  readonly memories: Map<string, TargetMemory>;
  /** Undefined: nobody else is looked for. */
  readonly others: Others | undefined;
}

/** Whether somebody else carries out requests here, which is so for good once it was seen. */
export interface Others {
  found: string | undefined;
  readonly tell: (manager: string) => void;
}

/** The name under which every component of ours writes. */
export const MANAGER = 'quorate';

/** What one process knows of a target beside what is written. Nothing depends on it but how soon it is asked again. */
export interface TargetMemory {
  tries?: Tries;
  /** Of asking for the group to be told, while others than the default responder have their turn. */
  groupTries?: Tries;
  /** An Eviction that this process made and its cache may not have heard of. */
  made?: Eviction;
}

/** GroupEvictions by the Evictions that they were made for. */
export const BY_OWNER = 'eviction-owner';
/** Evictions by the name of the pod, whichever it was. */
export const BY_POD_NAME = 'eviction-pod-name';

export function targetOf({ name, namespace = '' }: ObjectKey): EvictionTargetRef {
  const [pod = '', uid = ''] = name.split('/');
  return { namespace, name: pod, uid };
}

/** Where an object is, for a client. */
export const placeOf = (object: KubeObject): ObjectKey => parseKey(keyOf(object));

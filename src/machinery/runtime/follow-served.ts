import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { isNotFound } from './api-error.ts';
import type { Client } from './client.ts';
import { sleep } from './clock.ts';
import { deferred } from './deferred.ts';
import type { ControllerContext } from './controller-context.ts';

/** A kind to follow: where it may be found, best first. */
export interface FollowedKind {
  readonly types: readonly ResourceType[];
  /** Every Kubernetes serves it; it is followed without asking. */
  readonly builtIn: boolean;
}

export interface Following {
  /** False as long as there may be objects that have not been read. */
  readonly known: boolean;
  /** Resolves when it has been found out which kinds are served, or could not be. */
  readonly firstTry: Promise<void>;
}

export interface FollowOptions<K extends FollowedKind> {
  readonly context: ControllerContext;
  readonly kinds: readonly K[];
  readonly seen: (kind: K, object: KubeObject) => void;
  readonly gone: (kind: K, object: KubeObject) => void;
  /** Kinds have come to be known: all, or one that was not served before. */
  readonly found?: (() => void) | undefined;
}

const LOOK_AGAIN_MS = 30_000;

/** Follows every kind in the first of its types that the cluster serves, and looks again now and then for the rest. */
export function followServed<K extends FollowedKind>(options: FollowOptions<K>): Following {
  const { context, found, gone, kinds, seen } = options;
  const { clock, informers, log, signal } = context;
  const tried = deferred();
  const state = { known: false, firstTry: tried.promise };
  informers.finding('kinds of groups and budgets', tried.promise);

  const follow = (kind: K, type: ResourceType): Promise<void> => {
    const informer = informers.of(type);
    informer.addHandler({
      added: (object) => seen(kind, object),
      updated: (object) => seen(kind, object),
      deleted: (object) => gone(kind, object),
    });
    return informer.whenSynced();
  };

  async function run(syncing: Promise<void>[]): Promise<void> {
    const wanted = new Set(kinds.filter(({ builtIn }) => !builtIn));
    do {
      try {
        const served = await servedTypes(context.client, [...wanted]);
        for (const [kind, type] of served) {
          wanted.delete(kind);
          syncing.push(follow(kind, type));
        }
        await Promise.all(syncing);
        if (!state.known || served.size > 0) {
          state.known = true;
          found?.();
        }
      } catch (error) {
        log.warn({ error: String(error) }, 'cannot tell which kinds of groups and budgets the cluster serves');
      }
      tried.resolve();
      if (wanted.size > 0) await sleep(clock, LOOK_AGAIN_MS, signal);
    } while (wanted.size > 0);
  }
  run(kinds.flatMap((kind) => (kind.builtIn && kind.types[0] ? [follow(kind, kind.types[0])] : []))).catch(() => {});
  return state;
}

/** The type in which each kind is served; kinds that are not are left out. */
export async function servedTypes<K extends FollowedKind>(
  client: Client,
  kinds: readonly K[],
): Promise<Map<K, ResourceType>> {
  const asked = new Map<string, Promise<ReadonlySet<string>>>();
  const pluralsIn = (type: ResourceType): Promise<ReadonlySet<string>> => {
    const path = `${type.group === '' ? '/api' : `/apis/${type.group}`}/${type.version}`;
    const known = asked.get(path) ?? readPlurals(client, path);
    asked.set(path, known);
    return known;
  };
  const served = new Map<K, ResourceType>();
  for (const kind of kinds) {
    for (const type of kind.types) {
      if (!(await pluralsIn(type)).has(type.plural)) continue;
      served.set(kind, type);
      break;
    }
  }
  return served;
}

/** What a group version serves; nothing where the server does not have it. */
async function readPlurals(client: Client, path: string): Promise<ReadonlySet<string>> {
  try {
    const list = await client.request<{ resources?: { name: string }[] }>('GET', path);
    return new Set(list.resources?.map(({ name }) => name));
  } catch (error) {
    if (isNotFound(error)) return new Set();
    throw error;
  }
}

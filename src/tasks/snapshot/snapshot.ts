import { apiVersionOf, type KubeObject, type ResourceType } from '../../api/resource.ts';
import { type Client, isForbidden, isNotFound, servedTypes } from '../../machinery/runtime/index.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { DocumentError, readFormat } from '../documents/read-document.ts';
import { SNAPSHOT_KINDS } from './kinds.ts';
import { keepListed } from './keep.ts';

export const SNAPSHOT_FORMAT = 'quorate-snapshot';
export const SNAPSHOT_VERSION = 1;

/** What matters of a cluster for drains and budgets, in one file. */
export interface Snapshot {
  readonly format: typeof SNAPSHOT_FORMAT;
  readonly version: typeof SNAPSHOT_VERSION;
  readonly takenAt: string;
  /** Kinds that could not be read, each with why. */
  readonly missing: Readonly<Record<string, 'NotServed' | 'Forbidden'>>;
  readonly objects: readonly KubeObject[];
}

const PAGE = 500;

export interface SnapshotOptions {
  readonly now: number;
  readonly onProgress?: ((text: string) => void) | undefined;
}

/** Reads a cluster, kind by kind; changes nothing. Nodes and pods must be readable, the rest is left out if not. */
export async function takeSnapshot(client: Client, { now, onProgress }: SnapshotOptions): Promise<Snapshot> {
  const objects: KubeObject[] = [];
  const missing: Record<string, 'NotServed' | 'Forbidden'> = {};
  for (const { name, types } of SNAPSHOT_KINDS) {
    let why: 'NotServed' | 'Forbidden' | undefined = 'NotServed';
    for (const type of types) {
      try {
        for await (const page of pagesOf(client, type)) {
          for (const object of page) {
            objects.push(keepListed(name, { ...object, apiVersion: apiVersionOf(type), kind: name }));
          }
          onProgress?.(`${objects.length} objects (${name})`);
        }
        why = undefined;
        break;
      } catch (error) {
        if (isForbidden(error) && name !== 'Pod' && name !== 'Node') {
          // An API server asks who may before it asks what there is.
          if (await isServed(client, type)) why = 'Forbidden';
        } else if (!isNotFound(error)) throw error;
      }
    }
    if (why !== undefined) missing[name] = why;
  }
  return { format: SNAPSHOT_FORMAT, version: SNAPSHOT_VERSION, takenAt: formatTime(now), missing, objects };
}

/** A server that does not even tell what it serves may serve it. */
async function isServed(client: Client, type: ResourceType): Promise<boolean> {
  try {
    return (await servedTypes(client, [{ types: [type], builtIn: false }])).size > 0;
  } catch (error) {
    if (isForbidden(error)) return true;
    throw error;
  }
}

async function* pagesOf(client: Client, type: ResourceType): AsyncGenerator<readonly KubeObject[]> {
  let token: string | undefined;
  do {
    const page = await client.list(type, { limit: PAGE, continue: token });
    yield page.items;
    token = page.metadata.continue || undefined;
  } while (token !== undefined);
}

/** Throws DocumentError, one line, for a file that is none or is of a later version. */
export function readSnapshot(file: string): Snapshot {
  const snapshot = readFormat<Snapshot>(file, {
    format: SNAPSHOT_FORMAT,
    version: SNAPSHOT_VERSION,
    what: 'a snapshot (quorate snapshot -o FILE makes one)',
  });
  if (!Array.isArray(snapshot.objects)) throw new DocumentError(`Cannot use ${file}: it holds no objects`);
  return snapshot as Snapshot;
}

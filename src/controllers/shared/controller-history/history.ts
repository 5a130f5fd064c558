import type { Owned } from '../../../api/core/owner.ts';
import type { ControllerRevision } from '../../../api/generated/apps-v1.ts';
import type { PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import { controllerRevisionType } from '../../../api/resource-types.ts';
import { type KubeObject, keyOf, type ResourceType } from '../../../api/resource.ts';
import { type Client, type Informer, isAlreadyExists, isNotFound } from '../../../machinery/runtime/index.ts';
import type { Selector } from '../../../machinery/values/index.ts';
import { claim, type ReadYourWrites } from '../pod-control/index.ts';
import { HASH_LABEL, isSameData, newRevision, revisionName, sortRevisions } from './revision.ts';

export interface HistoryDeps {
  readonly client: Client;
  readonly revisions: Informer<ControllerRevision>;
  readonly ownerType: ResourceType;
  readonly writes: ReadYourWrites;
  /** Default `controller.kubernetes.io/hash`. */
  readonly hashLabel?: string | undefined;
}

/** The owner's revisions, oldest first, orphans that match adopted. Needs `indexByController` on the informer. */
export async function claimRevisions(
  { client, ownerType, revisions, writes }: HistoryDeps,
  owner: KubeObject & Owned,
  selector: Selector,
): Promise<ControllerRevision[]> {
  return sortRevisions(await claim({ client, owner, ownerType, cache: revisions, writes, selector }));
}

/** What has pods of a template, which revisions keep. */
interface HasTemplate {
  readonly spec?: { readonly template?: PodTemplateSpec | undefined } | undefined;
  readonly status?: { readonly collisionCount?: number | undefined } | undefined;
}

export interface UpdateRevision {
  readonly revision: ControllerRevision;
  readonly collisionCount: number;
}

/**
 * The revision that stands for a template, as the newest of the owner:
 *  1. the newest already does
 *  2. an older one does: it becomes the newest, which is how a rollback looks
 *  3. none does: one is created, under another name if a stranger holds it
 */
export async function revisionFor(
  deps: HistoryDeps,
  owner: KubeObject & Owned & HasTemplate,
  existing: readonly ControllerRevision[],
): Promise<UpdateRevision> {
  const { client, revisions, writes } = deps;
  const { spec: { template = {} } = {}, status: { collisionCount = 0 } = {} } = owner;
  const newest = existing.at(-1);
  const number = (newest?.revision ?? 0) + 1;
  const wanted = newRevision(owner, deps.ownerType, {
    collisionCount,
    hashLabel: deps.hashLabel,
    revision: number,
    template,
  });
  const equal = existing.filter((candidate) => isSameData(candidate, wanted)).at(-1);
  if (equal !== undefined && newest !== undefined && isSameData(newest, equal)) {
    return { revision: newest, collisionCount };
  }
  if (equal !== undefined) {
    const revision = await client.update(controllerRevisionType, { ...equal, revision: number });
    writes.record(keyOf(owner), revisions, revision);
    return { revision, collisionCount };
  }
  return createRevision(deps, owner, wanted, collisionCount);
}

async function createRevision(
  { client, hashLabel = HASH_LABEL, revisions, writes }: HistoryDeps,
  owner: KubeObject & Owned,
  wanted: ControllerRevision,
  from: number,
): Promise<UpdateRevision> {
  for (let collisionCount = from; ; collisionCount += 1) {
    const { hash, name } = revisionName(owner, wanted.data, collisionCount);
    const { namespace } = wanted.metadata;
    try {
      const revision = await client.create(controllerRevisionType, {
        ...wanted,
        metadata: { ...wanted.metadata, name, labels: { ...wanted.metadata.labels, [hashLabel]: hash } },
      });
      writes.record(keyOf(owner), revisions, revision);
      return { revision, collisionCount };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const found = await client.get(controllerRevisionType, { namespace, name });
      if (isSameData(found, wanted)) return { revision: found, collisionCount };
    }
  }
}

export async function deleteRevisions(client: Client, doomed: readonly ControllerRevision[]): Promise<void> {
  for (const { metadata } of doomed) {
    const { name = '', namespace } = metadata;
    await client.delete(controllerRevisionType, { namespace, name }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

import { controllerReference, isControlledBy } from '../../../api/core/owner.ts';
import type { ControllerRevision } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { type LeaderWorkerSet, type LeaderWorkerSetSpec, LWS } from '../../../api/lws/types.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { controllerRevisionType } from '../../../api/resource-types.ts';
import { type Client, type Informer, isAlreadyExists } from '../../../machinery/runtime/index.ts';
import { deleteRevisions } from '../../shared/controller-history/index.ts';

export interface RevisionDeps {
  readonly client: Client;
  readonly type: ResourceType<LeaderWorkerSet>;
  /** Indexed by set under `lws`. */
  readonly revisions: Informer<ControllerRevision>;
}

/** What groups of a revision are made of. */
type Kept = Pick<LeaderWorkerSetSpec, 'leaderWorkerTemplate' | 'networkConfig'>;

/** Remembers what the groups of a revision are made of, before there are any: one below the partition keeps its own. */
export async function ensureRevision(deps: RevisionDeps, lws: LeaderWorkerSet, revision: string): Promise<void> {
  const known = revisionsOf(deps, lws);
  if (known.some((one) => isOf(one, revision))) return;
  const { name = '', namespace } = lws.metadata;
  const { leaderWorkerTemplate, networkConfig } = lws.spec ?? {};
  const data: { spec: Kept } = { spec: { leaderWorkerTemplate, ...(networkConfig && { networkConfig }) } };
  const wanted: ControllerRevision = {
    metadata: {
      name: `${name}-${revision}`,
      namespace,
      labels: { [LWS.name]: name, [LWS.revision]: revision },
      ownerReferences: [controllerReference(deps.type, lws)],
    },
    data,
    revision: 1 + Math.max(0, ...known.map((one) => one.revision)),
  };
  await deps.client.create(controllerRevisionType, wanted).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** The set as it was when the leader's revision was the newest; as it is now where nobody remembers. */
export function asOfLeader(deps: RevisionDeps, lws: LeaderWorkerSet, { metadata }: Pod): LeaderWorkerSet {
  const found = revisionsOf(deps, lws).find((one) => isOf(one, metadata.labels?.[LWS.revision]));
  const kept = (found?.data as { spec?: Kept } | undefined)?.spec;
  return kept?.leaderWorkerTemplate === undefined ? lws : { ...lws, spec: { ...lws.spec, ...kept } };
}

/** Forgets what no group is made of any more, and none can be. */
export async function forgetRevisions(deps: RevisionDeps, lws: LeaderWorkerSet, current: string): Promise<void> {
  await deleteRevisions(
    deps.client,
    revisionsOf(deps, lws).filter((one) => !isOf(one, current)),
  );
}

function revisionsOf({ revisions }: RevisionDeps, lws: LeaderWorkerSet): ControllerRevision[] {
  const { name, namespace } = lws.metadata;
  return revisions.byIndex('lws', `${namespace}/${name}`).filter((one) => isControlledBy(one, lws));
}

const isOf = ({ metadata }: ControllerRevision, revision: string | undefined): boolean =>
  metadata.labels?.[LWS.revision] === revision;

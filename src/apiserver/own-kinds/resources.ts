/** The kinds that come with Quorate and not with Kubernetes, served from the definitions that clusters get too. */
import { OWN_KINDS, type OwnKind } from '../../api/crds/index.ts';
import { ConversionError, fromV1alpha1, toV1alpha1 } from '../../api/kruise/conversion.ts';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../../api/kruise/types.ts';
import { warningsOf } from '../../api/kruise/validation.ts';
import { type LeaderWorkerSet, leaderWorkerSetType } from '../../api/lws/types.ts';
import { validateLeaderWorkerSet, validateLeaderWorkerSetUpdate } from '../../api/lws/validation.ts';
import { customResource } from '../crd/resource.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Resource, ServedVersion } from '../registry/resource.ts';
import { badRequest } from '../exchange/status.ts';

/** `compat`: conversions of PodUnavailableBudgets lose what those of OpenKruise lose. */
export function ownResources({ compat = false } = {}): Resource[] {
  return OWN_KINDS.filter(({ embedded }) => embedded).map((kind) => rulesOf(kind.type, resourceOf(kind), compat));
}

/** What a definition cannot say. */
function rulesOf(type: OwnKind['type'], resource: Resource, compat: boolean): Resource {
  if (type === POD_UNAVAILABLE_BUDGETS) return podUnavailableBudgets(resource, compat);
  return type === leaderWorkerSetType ? leaderWorkerSets(resource) : resource;
}

/** What LeaderWorkerSet's own webhook does on a cluster. */
function leaderWorkerSets(resource: Resource): Resource {
  const { strategy } = resource;
  const asSet = (object: ApiObject): LeaderWorkerSet => object as LeaderWorkerSet;
  return {
    ...resource,
    strategy: {
      ...strategy,
      defaults(object) {
        strategy.defaults?.(object);
        const { leaderWorkerTemplate } = asSet(object).spec ?? {};
        // The old name of the same policy.
        if (leaderWorkerTemplate?.restartPolicy === 'Default') leaderWorkerTemplate.restartPolicy = 'None';
      },
      validate: (object, version) => [
        ...(strategy.validate?.(object, version) ?? []),
        ...validateLeaderWorkerSet(asSet(object)),
      ],
      validateUpdate: (object, old, version) => [
        ...(strategy.validateUpdate?.(object, old, version) ?? []),
        ...validateLeaderWorkerSetUpdate(asSet(object), asSet(old)),
      ],
    },
  };
}

function resourceOf({ definition, yields }: OwnKind): Resource {
  const made = customResource(definition);
  if (made === undefined) throw new Error(`Cannot serve ${definition.metadata.name}: no version is served`);
  return yields === undefined ? made : { ...made, yields };
}

const asBudget = (object: ApiObject): PodUnavailableBudget => object as PodUnavailableBudget;
const asObject = (budget: PodUnavailableBudget): ApiObject => budget as ApiObject;

function podUnavailableBudgets(resource: Resource, compat: boolean): Resource {
  return {
    ...resource,
    versions: resource.versions.map((version) =>
      version.name === 'v1alpha1' ? alphaVersion(version, compat) : version,
    ),
    strategy: { ...resource.strategy, warnings: (object) => warningsOf(asBudget(object)) },
  };
}

/** What v1alpha1 cannot spell is in annotations there; both ways keep everything. */
function alphaVersion(version: ServedVersion, lossy: boolean): ServedVersion {
  return {
    ...version,
    toStored(object) {
      try {
        return asObject(fromV1alpha1(asBudget(version.toStored?.(object) ?? object)));
      } catch (error) {
        if (error instanceof ConversionError) throw badRequest(error.message);
        throw error;
      }
    },
    fromStored(object) {
      const converted = asObject(toV1alpha1(asBudget(object), { lossy }));
      return version.fromStored?.(converted) ?? converted;
    },
  };
}

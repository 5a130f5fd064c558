/** The kinds that come with Quorate and not with Kubernetes, served from the definitions that clusters get too. */
import {
  disruptionLedgerDefinition,
  groupEvictionDefinition,
  kruiseLeaderWorkerSetDefinition,
  leaderWorkerSetDefinition,
  podUnavailableBudgetDefinition,
} from '../../api/crds/index.ts';
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { ConversionError, fromV1alpha1, toV1alpha1 } from '../../api/kruise/conversion.ts';
import type { PodUnavailableBudget } from '../../api/kruise/types.ts';
import { warningsOf } from '../../api/kruise/validation.ts';
import { customRow } from '../crd/row.ts';
import type { ApiObject } from '../object.ts';
import type { ResourceRow, VersionRow } from '../registry/row.ts';
import { badRequest } from '../status.ts';

/** `compat`: conversions of PodUnavailableBudgets lose what those of OpenKruise lose. */
export function ownRows({ compat = false } = {}): ResourceRow[] {
  const row = (definition: CustomResourceDefinition): ResourceRow => {
    const made = customRow(definition);
    if (made === undefined) throw new Error(`Cannot serve ${definition.metadata.name}: no version is served`);
    return made;
  };
  return [
    podUnavailableBudgets(row(podUnavailableBudgetDefinition), compat),
    row(leaderWorkerSetDefinition),
    row(kruiseLeaderWorkerSetDefinition),
    row(disruptionLedgerDefinition),
    row(groupEvictionDefinition),
  ];
}

const asBudget = (object: ApiObject): PodUnavailableBudget => object as unknown as PodUnavailableBudget;
const asObject = (budget: PodUnavailableBudget): ApiObject => budget as unknown as ApiObject;

function podUnavailableBudgets(row: ResourceRow, compat: boolean): ResourceRow {
  return {
    ...row,
    versions: row.versions.map((version) => (version.name === 'v1alpha1' ? alphaVersion(version, compat) : version)),
    strategy: { ...row.strategy, warnings: (object) => warningsOf(asBudget(object)) },
  };
}

/** What v1alpha1 cannot spell is in annotations there; both ways keep everything. */
function alphaVersion(version: VersionRow, lossy: boolean): VersionRow {
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

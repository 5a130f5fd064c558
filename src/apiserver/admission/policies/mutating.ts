/** MutatingAdmissionPolicy: expressions that change the object, as an apply configuration or a JSON patch. */
import type {
  Mutation,
  MutatingAdmissionPolicyBindingSpec,
  MutatingAdmissionPolicySpec,
} from '../../../api/generated/admissionregistration-v1.ts';
import { deepEqual, isObject } from '../../../machinery/values/index.ts';
import { type AdmissionAttributes, type AdmissionPlugin, refusedName } from '../../context/admission-plugin.ts';
import { fromCel } from '../../cel/values.ts';
import type { ServerContext } from '../../context/server-context.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { forbidden } from '../../exchange/status.ts';
import { converting } from '../../stored/converting.ts';
import { learnVersions, shownIn, storedFrom } from '../versioned.ts';
import { PolicyFailure, PolicySource, run } from './source.ts';
import { variablesFor } from '../expressions.ts';

type Source = PolicySource<MutatingAdmissionPolicySpec, MutatingAdmissionPolicyBindingSpec>;

export function mutatingPolicies(context: ServerContext): AdmissionPlugin & { stop(): void } {
  const source: Source = new PolicySource(context, 'mutating');
  return {
    name: 'MutatingAdmissionPolicy',
    handles: (attributes) => attributes.object !== undefined && source.applies(attributes),
    admit: (attributes) => mutate(context, source, attributes),
    stop: () => source.stop(),
  };
}

async function mutate(context: ServerContext, source: Source, attributes: AdmissionAttributes): Promise<void> {
  await learnVersions(attributes);
  const refuse = (policy: string, binding: string, why: string): never => {
    const message = `MutatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${why}`;
    throw forbidden(attributes.resource, refusedName(attributes), message);
  };
  for (const { policy, binding, spec, version, variables } of source.meetings(attributes, refuse)) {
    for (const mutation of spec.mutations ?? []) {
      try {
        await converting(() => apply(context, attributes, mutation, { version, variables }));
      } catch (error) {
        if (!(error instanceof PolicyFailure)) throw error;
        if (spec.failurePolicy !== 'Ignore') refuse(policy, binding, error.message);
      }
      await learnVersions(attributes);
      // The next mutation sees what this one did.
      variables['object'] = variablesFor(attributes, version, undefined)['object'];
    }
  }
}

function apply(
  context: ServerContext,
  attributes: AdmissionAttributes,
  mutation: Mutation,
  { version, variables }: { version: string; variables: Record<string, unknown> },
): void {
  const shown = shownIn(attributes, attributes.object as ApiObject, version);
  const changed = changedBy(context, attributes, mutation, { shown, version, variables });
  if (deepEqual(changed, shown)) return;
  const { name, namespace, uid } = shown.metadata;
  if (changed.metadata.name !== name || changed.metadata.namespace !== namespace || changed.metadata.uid !== uid) {
    throw new PolicyFailure('a mutation may not change name, namespace or uid');
  }
  const stored = storedFrom(attributes, changed, version);
  attributes.resource.strategy.defaults?.(stored);
  attributes.object = stored;
}

function changedBy(
  context: ServerContext,
  { resource }: AdmissionAttributes,
  { patchType, applyConfiguration, jsonPatch }: Mutation,
  { shown, version, variables }: { shown: ApiObject; version: string; variables: Record<string, unknown> },
): ApiObject {
  const { codec } = context;
  if (patchType === 'JSONPatch') {
    const operations = fromCel(run(jsonPatch?.expression ?? '', variables));
    if (!Array.isArray(operations)) throw new PolicyFailure('the JSONPatch expression did not give a list');
    return codec.jsonPatch(shown, operations);
  }
  const configuration = fromCel(run(applyConfiguration?.expression ?? '', variables));
  if (!isObject(configuration)) throw new PolicyFailure('the applyConfiguration expression did not give an object');
  return resource.custom
    ? codec.mergePatch(shown, configuration)
    : codec.strategicMerge(resource, version, shown, configuration);
}

/**
 * A policy with parameters reads objects for its author, who must be able to read them: all of the kind for a policy,
 * the ones it names for a binding.
 */
import type { ParamKind, ParamRef } from '../../../api/generated/admissionregistration-v1.ts';
import { splitApiVersion } from '../../../api/resource.ts';
import { FieldPath, forbidden, isObject, semanticEqual } from '../../../machinery/values/index.ts';
import type { AuthorizationAttributes, Authorizer } from '../../access/access.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../context/admission-plugin.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { invalid } from '../../exchange/status.ts';
import { readStored, type StoredReads } from '../../stored/kind-view.ts';

const GROUP = 'admissionregistration.k8s.io';
const POLICIES = new Set(['validatingadmissionpolicies', 'mutatingadmissionpolicies']);
const BINDINGS: Readonly<Record<string, string>> = {
  validatingadmissionpolicybindings: 'validatingadmissionpolicies',
  mutatingadmissionpolicybindings: 'mutatingadmissionpolicies',
};

interface Spec {
  readonly paramKind?: ParamKind;
  readonly paramRef?: ParamRef;
  readonly policyName?: string;
}

const specOf = (object: ApiObject | undefined): Spec => (isObject(object?.['spec']) ? (object['spec'] as Spec) : {});

export function policyParameters(reads: StoredReads, authorizer: Authorizer): AdmissionPlugin {
  /** Everything where the kind is not known: who may read that may read it, whatever it turns out to be. */
  const resourceOf = (kind: ParamKind | undefined) => {
    if (kind === undefined) return { group: '*', version: '*', plural: '*' };
    const { group, version } = splitApiVersion(kind.apiVersion ?? '');
    return { group, version, plural: reads.registry.byKind(group, kind.kind ?? '')?.plural ?? '*' };
  };
  const demand = async (
    attributes: AdmissionAttributes,
    { field, question }: { field: string; question: Omit<AuthorizationAttributes, 'user'> },
  ): Promise<void> => {
    const { user } = attributes;
    if ((await authorizer.authorize({ ...question, user })).allowed) return;
    const why = `user "${user.username}" must have "${question.verb}" permission on the objects that it refers to`;
    throw invalid(attributes.resource, attributes.name ?? '', [forbidden(FieldPath.of('spec', field), why)]);
  };

  return {
    name: 'PolicyParameters',
    handles: ({ operation, resource, subresource }) =>
      resource.group === GROUP &&
      (operation === 'CREATE' || operation === 'UPDATE') &&
      subresource === undefined &&
      (POLICIES.has(resource.plural) || Object.hasOwn(BINDINGS, resource.plural)),
    async validate(attributes) {
      const { oldObject, resource } = attributes;
      const [now, before] = [specOf(attributes.object), specOf(oldObject)];
      if (POLICIES.has(resource.plural)) {
        if (!now.paramKind || semanticEqual(now.paramKind, before.paramKind)) return;
        const asked = { ...resourceOf(now.paramKind), name: '*', namespace: '*' };
        await demand(attributes, { field: 'paramKind', question: { verb: 'get', resource: asked } });
        return;
      }
      const { paramRef, policyName = '' } = now;
      if (!paramRef || (semanticEqual(paramRef, before.paramRef) && policyName === before.policyName)) return;
      const policy = readStored(
        reads,
        { group: GROUP, plural: BINDINGS[resource.plural] ?? '' },
        undefined,
        policyName,
      );
      const { name, namespace } = paramRef;
      const asked = {
        ...resourceOf(specOf(policy).paramKind),
        ...(name && { name }),
        ...(namespace && { namespace }),
      };
      await demand(attributes, { field: 'paramRef', question: { verb: name ? 'get' : 'list', resource: asked } });
    },
  };
}

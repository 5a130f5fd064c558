/** Policies with their bindings, kept current, and which of them a request meets. */
import type {
  MatchCondition,
  MatchResources,
  ParamKind,
  ParamRef,
  Variable,
} from '../../../api/generated/admissionregistration-v1.ts';
import { splitApiVersion } from '../../../api/resource.ts';
import { fromLabelSelector, type LabelSelectorShape, matches } from '../../../machinery/values/index.ts';
import type { AdmissionAttributes } from '../../context/admission-plugin.ts';
import { programOf } from '../../cel/compile.ts';
import { CostExceeded } from '../../cel/meter.ts';
import { toCel } from '../../cel/values.ts';
import type { ServerContext } from '../../context/server-context.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { KindView, listStored, readStored } from '../../stored/kind-view.ts';
import { variablesFor } from '../expressions.ts';
import { isExempt, matchSpecOf, matchVersion, namespaceOf } from '../matching.ts';

export interface PolicySpec {
  readonly paramKind?: ParamKind | undefined;
  readonly matchConstraints?: MatchResources | undefined;
  readonly matchConditions?: MatchCondition[] | undefined;
  readonly variables?: Variable[] | undefined;
  readonly failurePolicy?: string | undefined;
}

export interface Policy<S extends PolicySpec> {
  readonly metadata: { readonly name?: string };
  readonly spec?: S;
}

export interface BindingSpec {
  readonly policyName?: string | undefined;
  readonly paramRef?: ParamRef | undefined;
  readonly matchResources?: MatchResources | undefined;
}

export interface PolicyBinding<B extends BindingSpec> {
  readonly metadata: { readonly name?: string };
  readonly spec?: B;
}

/** One policy under one binding with one parameter object. */
export interface Meeting<S extends PolicySpec, B extends BindingSpec> {
  readonly policy: string;
  readonly binding: string;
  readonly spec: S;
  readonly bindingSpec: B;
  /** The version in which the policy asked to see the object. */
  readonly version: string;
  /** What expressions see. */
  readonly variables: Record<string, unknown>;
}

const GROUP = 'admissionregistration.k8s.io';

/** A problem that the failure policy of the policy decides about. */
export class PolicyFailure extends Error {
  override name = 'PolicyFailure';
}

export class PolicySource<S extends PolicySpec, B extends BindingSpec> {
  readonly #context: ServerContext;
  readonly #policies: KindView<Policy<S>>;
  readonly #bindings: KindView<PolicyBinding<B>>;

  constructor(context: ServerContext, kind: 'validating' | 'mutating') {
    this.#context = context;
    this.#policies = new KindView(context, GROUP, `${kind}admissionpolicies`);
    this.#bindings = new KindView(context, GROUP, `${kind}admissionpolicybindings`);
  }

  stop(): void {
    this.#policies.stop();
    this.#bindings.stop();
  }

  applies(attributes: AdmissionAttributes): boolean {
    if (isExempt(attributes)) return false;
    for (const _binding of this.#bindings.values()) return true;
    return false;
  }

  /** In order of binding names. `refuse` is called for problems a failing policy turns into refusals. */
  *meetings(
    attributes: AdmissionAttributes,
    refuse: (policy: string, binding: string, message: string) => void,
  ): Generator<Meeting<S, B>> {
    const bindings = [...this.#bindings.values()].sort((a, b) =>
      (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1,
    );
    for (const { metadata, spec: bindingSpec } of bindings) {
      const policy = this.#policies.get(undefined, bindingSpec?.policyName ?? '');
      if (policy?.spec === undefined || bindingSpec === undefined) continue;
      const names = { policy: policy.metadata.name ?? '', binding: metadata.name ?? '' };
      try {
        yield* this.#meet(attributes, policy.spec, bindingSpec, names);
      } catch (error) {
        if (!(error instanceof PolicyFailure)) throw error;
        if (policy.spec.failurePolicy !== 'Ignore') refuse(names.policy, names.binding, error.message);
      }
    }
  }

  *#meet(
    attributes: AdmissionAttributes,
    spec: S,
    bindingSpec: B,
    names: { policy: string; binding: string },
  ): Generator<Meeting<S, B>> {
    const context = this.#context;
    const version = matchVersion(context, matchSpecOf(spec.matchConstraints), attributes);
    if (version === undefined) return;
    const own = matchSpecOf(bindingSpec.matchResources);
    const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*', '*/*'] }];
    const narrowed = own.rules.length === 0 ? { ...own, rules: everything } : own;
    if (matchVersion(context, narrowed, attributes) === undefined) return;
    const base = variablesFor(attributes, version, namespaceOf(context, attributes));
    for (const condition of spec.matchConditions ?? []) {
      if (run(condition.expression, base) !== true) return;
    }
    for (const params of this.#params(spec, bindingSpec, attributes)) {
      const variables: Record<string, unknown> = { ...base, params: toCel(params), variables: {} };
      defineVariables(spec.variables ?? [], variables);
      yield { ...names, spec, bindingSpec, version, variables };
    }
  }

  #params({ paramKind }: S, { paramRef }: B, attributes: AdmissionAttributes): (ApiObject | null)[] {
    if (paramKind === undefined || paramRef === undefined) return [null];
    const { group } = splitApiVersion(paramKind.apiVersion ?? '');
    const resource = this.#context.registry.byKind(group, paramKind.kind ?? '');
    if (resource === undefined)
      throw new PolicyFailure(`failed to find resource referenced by paramKind: '${paramKind.kind}'`);
    const namespace = resource.namespaced ? paramRef.namespace || attributes.namespace : undefined;
    if (resource.namespaced && namespace === undefined) {
      throw new PolicyFailure('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
    }
    const found = paramRef.name
      ? [readStored(this.#context, resource, namespace, paramRef.name)].filter((object) => object !== undefined)
      : listStored(this.#context, resource, namespace).filter(({ metadata }) =>
          matches(fromLabelSelector(paramRef.selector as LabelSelectorShape), metadata.labels),
        );
    if (found.length > 0) return found;
    if (paramRef.parameterNotFoundAction === 'Allow') return [];
    throw new PolicyFailure('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
}

/** A variable sees those before it; one that fails is absent, so that only its users fail. */
function defineVariables(definitions: readonly Variable[], variables: Record<string, unknown>): void {
  const values: Record<string, unknown> = {};
  variables['variables'] = values;
  for (const { name, expression } of definitions) {
    try {
      values[name] = programOf(expression)(variables);
    } catch {
      delete values[name];
    }
  }
}

export function run(expression: string, variables: Record<string, unknown>): unknown {
  try {
    return programOf(expression)(variables);
  } catch (error) {
    if (error instanceof CostExceeded && error.of === 'budget') throw new PolicyFailure(error.message);
    throw new PolicyFailure(`expression '${expression}' resulted in error: ${(error as Error).message.split('\n')[0]}`);
  }
}

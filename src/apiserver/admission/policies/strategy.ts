/** Defaults and validation of policies and their bindings. */
import type {
  MatchResources,
  Mutation,
  ParamKind,
  ParamRef,
  Validation,
} from '../../../api/generated/admissionregistration-v1.ts';
import { FieldPath, type Issue, notSupported, required } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../exchange/object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { validateConditions, validateExpression, validateRule } from '../webhooks/configuration.ts';
import type { BindingSpec, PolicySpec } from './source.ts';

interface AnyPolicySpec extends PolicySpec {
  validations?: Validation[];
  mutations?: Mutation[];
  auditAnnotations?: { key: string; valueExpression: string }[];
  reinvocationPolicy?: string;
}
interface AnyBindingSpec extends BindingSpec {
  validationActions?: string[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const path = FieldPath.of('spec');
const specOf = <T>(object: ApiObject): Writable<Partial<T>> => (object['spec'] ??= {}) as Writable<Partial<T>>;

const common = {
  generation: 'spec',
  unconditionalUpdate: false,
} as const;

function policyStrategy(kind: 'Validating' | 'Mutating'): Strategy {
  return {
    ...common,
    defaults(object) {
      const spec = specOf<AnyPolicySpec>(object);
      spec.failurePolicy ??= 'Fail';
      defaultMatch(spec.matchConstraints);
    },
    prepareForCreate(object) {
      if (kind === 'Validating') delete object['status'];
    },
    validate(object) {
      const spec = specOf<AnyPolicySpec>(object);
      return [
        ...oneOf(path.child('failurePolicy'), spec.failurePolicy, ['Fail', 'Ignore']),
        ...validateParamKind(spec.paramKind),
        ...validateMatch(path.child('matchConstraints'), spec.matchConstraints, true),
        ...validateConditions(path.child('matchConditions'), spec.matchConditions ?? []),
        ...(spec.variables ?? []).flatMap(({ name, expression }, at) => [
          ...(name ? [] : [required(path.child('variables').index(at).child('name'))]),
          ...validateExpression(path.child('variables').index(at).child('expression'), expression),
        ]),
        ...(kind === 'Validating' ? validateValidations(spec) : validateMutations(spec)),
      ];
    },
  };
}

function bindingStrategy(kind: 'Validating' | 'Mutating'): Strategy {
  return {
    ...common,
    defaults: (object) => defaultMatch(specOf<AnyBindingSpec>(object).matchResources),
    validate(object) {
      const spec = specOf<AnyBindingSpec>(object);
      const issues: Issue[] = [];
      if (!spec.policyName) issues.push(required(path.child('policyName')));
      issues.push(
        ...validateParamRef(spec.paramRef),
        ...validateMatch(path.child('matchResources'), spec.matchResources, false),
      );
      if (kind === 'Mutating') return issues;
      const actions = spec.validationActions ?? [];
      if (actions.length === 0) issues.push(required(path.child('validationActions')));
      return [
        ...issues,
        ...actions.flatMap((action, at) =>
          oneOf(path.child('validationActions').index(at), action, ['Audit', 'Deny', 'Warn']),
        ),
      ];
    },
  };
}

export const validatingPolicyStrategy = policyStrategy('Validating');
export const mutatingPolicyStrategy = policyStrategy('Mutating');
export const validatingPolicyBindingStrategy = bindingStrategy('Validating');
export const mutatingPolicyBindingStrategy = bindingStrategy('Mutating');

function defaultMatch(resources: MatchResources | undefined): void {
  if (resources === undefined || resources === null) return;
  resources.matchPolicy ??= 'Equivalent';
  resources.namespaceSelector ??= {};
  resources.objectSelector ??= {};
  for (const rule of [...(resources.resourceRules ?? []), ...(resources.excludeResourceRules ?? [])]) {
    rule.scope ??= '*';
  }
}

const oneOf = (at: FieldPath, value: string | undefined, allowed: readonly string[]): Issue[] =>
  value === undefined || allowed.includes(value) ? [] : [notSupported(at, value, allowed)];

function validateMatch(at: FieldPath, resources: MatchResources | undefined, needed: boolean): Issue[] {
  if (resources === undefined || resources === null) return needed ? [required(at)] : [];
  const rules = resources.resourceRules ?? [];
  return [
    ...(needed && rules.length === 0 ? [required(at.child('resourceRules'))] : []),
    ...oneOf(at.child('matchPolicy'), resources.matchPolicy, ['Equivalent', 'Exact']),
    ...rules.flatMap((rule, index) => validateRule(at.child('resourceRules').index(index), rule)),
    ...(resources.excludeResourceRules ?? []).flatMap((rule, index) =>
      validateRule(at.child('excludeResourceRules').index(index), rule),
    ),
  ];
}

function validateParamKind(kind: ParamKind | undefined): Issue[] {
  if (kind === undefined) return [];
  const at = path.child('paramKind');
  return [
    ...(kind.apiVersion ? [] : [required(at.child('apiVersion'))]),
    ...(kind.kind ? [] : [required(at.child('kind'))]),
  ];
}

function validateParamRef(reference: ParamRef | undefined): Issue[] {
  if (reference === undefined) return [];
  const at = path.child('paramRef');
  const issues: Issue[] = [];
  if (!reference.name && reference.selector === undefined) {
    issues.push(required(at, 'one of name or selector must be specified'));
  }
  if (!reference.parameterNotFoundAction) issues.push(required(at.child('parameterNotFoundAction')));
  return [
    ...issues,
    ...oneOf(at.child('parameterNotFoundAction'), reference.parameterNotFoundAction, ['Allow', 'Deny']),
  ];
}

function validateValidations({ validations = [], auditAnnotations = [] }: Partial<AnyPolicySpec>): Issue[] {
  if (validations.length === 0 && auditAnnotations.length === 0) {
    return [required(path.child('validations'), 'validations or auditAnnotations must contain at least one item')];
  }
  return [
    ...validations.flatMap(({ expression, messageExpression }, at) => {
      const own = path.child('validations').index(at);
      return [
        ...validateExpression(own.child('expression'), expression),
        ...(messageExpression ? validateExpression(own.child('messageExpression'), messageExpression) : []),
      ];
    }),
    ...auditAnnotations.flatMap(({ valueExpression }, at) =>
      validateExpression(path.child('auditAnnotations').index(at).child('valueExpression'), valueExpression),
    ),
  ];
}

function validateMutations({ mutations = [], reinvocationPolicy }: Partial<AnyPolicySpec>): Issue[] {
  const issues: Issue[] = [];
  if (mutations.length === 0) {
    issues.push(required(path.child('mutations'), 'mutations must contain at least one item'));
  }
  if (!reinvocationPolicy) issues.push(required(path.child('reinvocationPolicy')));
  issues.push(...oneOf(path.child('reinvocationPolicy'), reinvocationPolicy, ['IfNeeded', 'Never']));
  for (const [at, { patchType, applyConfiguration, jsonPatch }] of mutations.entries()) {
    const own = path.child('mutations').index(at);
    issues.push(...oneOf(own.child('patchType'), patchType, ['ApplyConfiguration', 'JSONPatch']));
    if (patchType === 'ApplyConfiguration') {
      issues.push(...validateExpression(own.child('applyConfiguration', 'expression'), applyConfiguration?.expression));
    }
    if (patchType === 'JSONPatch') {
      issues.push(...validateExpression(own.child('jsonPatch', 'expression'), jsonPatch?.expression));
    }
  }
  return issues;
}

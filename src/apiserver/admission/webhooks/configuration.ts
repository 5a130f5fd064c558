/** Defaults and validation of webhook configurations. */
import type {
  MatchCondition,
  MutatingWebhook,
  RuleWithOperations,
  ValidatingWebhook,
  WebhookClientConfig,
} from '../../../api/generated/admissionregistration-v1.ts';
import {
  checkDnsSubdomain,
  checkQualifiedName,
  duplicate,
  FieldPath,
  type Issue,
  invalid,
  type LabelSelectorShape,
  notSupported,
  required,
  validateLabelSelector,
} from '../../../machinery/values/index.ts';
import { compileCel } from '../../cel/compile.ts';
import type { ApiObject } from '../../exchange/object.ts';
import type { Strategy } from '../../registry/strategy.ts';

const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const MAX_CONDITIONS = 64;

type Webhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;

const webhooksOf = (object: ApiObject): Webhook[] => (object['webhooks'] as Webhook[] | undefined) ?? [];

function configurationStrategy(kind: 'Mutating' | 'Validating'): Strategy {
  return {
    defaults(object) {
      for (const webhook of webhooksOf(object)) {
        webhook.failurePolicy ??= 'Fail';
        webhook.matchPolicy ??= 'Equivalent';
        webhook.namespaceSelector ??= {};
        webhook.objectSelector ??= {};
        webhook.timeoutSeconds ??= 10;
        if (kind === 'Mutating') webhook.reinvocationPolicy ??= 'Never';
        if (webhook.clientConfig?.service) webhook.clientConfig.service.port ??= 443;
        for (const rule of webhook.rules ?? []) rule.scope ??= '*';
      }
    },
    validate(object) {
      const seen = new Set<string>();
      return webhooksOf(object).flatMap((webhook, at) => {
        const path = FieldPath.of('webhooks').index(at);
        const issues = validateWebhook(path, webhook);
        if (webhook.name && seen.has(webhook.name)) issues.push(duplicate(path.child('name'), webhook.name));
        seen.add(webhook.name);
        return issues;
      });
    },
    generation: (object, old) => JSON.stringify(object['webhooks']) !== JSON.stringify(old['webhooks']),
    unconditionalUpdate: false,
  };
}

export const mutatingConfigurationStrategy = configurationStrategy('Mutating');
export const validatingConfigurationStrategy = configurationStrategy('Validating');

function validateWebhook(path: FieldPath, webhook: Webhook): Issue[] {
  const issues: Issue[] = [...validateQualified(path.child('name'), webhook.name ?? '')];
  for (const [at, rule] of (webhook.rules ?? []).entries()) {
    issues.push(...validateRule(path.child('rules').index(at), rule));
  }
  issues.push(
    ...oneOf(path.child('failurePolicy'), webhook.failurePolicy, ['Fail', 'Ignore']),
    ...oneOf(path.child('matchPolicy'), webhook.matchPolicy, ['Equivalent', 'Exact']),
    ...oneOf(path.child('reinvocationPolicy'), webhook.reinvocationPolicy, ['IfNeeded', 'Never']),
  );
  if (!webhook.sideEffects) {
    issues.push(required(path.child('sideEffects'), `must specify one of ${SIDE_EFFECTS.join(', ')}`));
  } else issues.push(...oneOf(path.child('sideEffects'), webhook.sideEffects, SIDE_EFFECTS));
  const { timeoutSeconds } = webhook;
  if (timeoutSeconds !== undefined && (timeoutSeconds > 30 || timeoutSeconds < 1)) {
    const why = 'the timeout value must be between 1 and 30 seconds';
    issues.push(invalid(path.child('timeoutSeconds'), timeoutSeconds, why));
  }
  for (const field of ['namespaceSelector', 'objectSelector'] as const) {
    issues.push(...validateLabelSelector(path.child(field), webhook[field] as LabelSelectorShape | undefined));
  }
  issues.push(
    ...validateClient(path.child('clientConfig'), webhook.clientConfig ?? {}),
    ...validateConditions(path.child('matchConditions'), webhook.matchConditions ?? []),
    ...validateReviewVersions(path.child('admissionReviewVersions'), webhook.admissionReviewVersions ?? []),
  );
  return issues;
}

/** A name with at least three parts: `name.example.com`. */
function validateQualified(path: FieldPath, name: string): Issue[] {
  if (name === '') return [required(path)];
  const problems = checkDnsSubdomain(name).map((why) => invalid(path, name, why));
  if (problems.length > 0) return problems;
  if (name.split('.').length >= 3) return [];
  return [invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

const oneOf = (path: FieldPath, value: string | undefined, allowed: readonly string[]): Issue[] =>
  value === undefined || allowed.includes(value) ? [] : [notSupported(path, value, allowed)];

export function validateRule(path: FieldPath, rule: RuleWithOperations): Issue[] {
  const issues: Issue[] = [];
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  if (operations.length === 0) issues.push(required(path.child('operations')));
  if (operations.length > 1 && operations.includes('*')) {
    issues.push(invalid(path.child('operations'), operations, "if '*' is present, must not specify other operations"));
  }
  for (const [at, operation] of operations.entries()) {
    issues.push(...oneOf(path.child('operations').index(at), operation, OPERATIONS));
  }
  if (apiGroups.length === 0) issues.push(required(path.child('apiGroups')));
  if (apiGroups.length > 1 && apiGroups.includes('*')) {
    issues.push(invalid(path.child('apiGroups'), apiGroups, "if '*' is present, must not specify other API groups"));
  }
  if (apiVersions.length === 0) issues.push(required(path.child('apiVersions')));
  if (apiVersions.length > 1 && apiVersions.includes('*')) {
    issues.push(
      invalid(path.child('apiVersions'), apiVersions, "if '*' is present, must not specify other API versions"),
    );
  }
  if (resources.length === 0) issues.push(required(path.child('resources')));
  for (const [at, resource] of resources.entries()) {
    if (resource === '') issues.push(required(path.child('resources').index(at)));
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    issues.push(invalid(path.child('resources'), resources, "if '*/*' is present, must not specify other resources"));
  }
  return [...issues, ...oneOf(path.child('scope'), scope, ['*', 'Cluster', 'Namespaced'])];
}

function validateClient(path: FieldPath, { url, service }: Partial<WebhookClientConfig>): Issue[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(path, 'exactly one of url or service is required')];
  }
  if (service !== undefined) {
    const at = path.child('service');
    const issues: Issue[] = [];
    if (!service.name) issues.push(required(at.child('name'), 'service name is required'));
    if (!service.namespace) issues.push(required(at.child('namespace'), 'service namespace is required'));
    if (service.path && !service.path.startsWith('/')) {
      issues.push(invalid(at.child('path'), service.path, "must start with a '/'"));
    }
    return issues;
  }
  const at = path.child('url');
  const given = url ?? '';
  let parsed: URL;
  try {
    parsed = new URL(given);
  } catch {
    return [required(at, 'url parse error; desired format: https://host[/path]')];
  }
  const issues: Issue[] = [];
  if (parsed.protocol !== 'https:') {
    const why = `'https' is the only allowed URL scheme; desired format: https://host[/path]`;
    issues.push(invalid(at, parsed.protocol.slice(0, -1), why));
  }
  if (parsed.username !== '' || parsed.password !== '') {
    issues.push(invalid(at, parsed.username, 'user information is not permitted in the URL'));
  }
  if (parsed.hash !== '') issues.push(invalid(at, parsed.hash.slice(1), 'fragments are not permitted in the URL'));
  if (parsed.search !== '') {
    issues.push(invalid(at, parsed.search.slice(1), 'query parameters are not permitted in the URL'));
  }
  return issues;
}

export function validateConditions(path: FieldPath, conditions: readonly MatchCondition[]): Issue[] {
  const issues: Issue[] = [];
  if (conditions.length > MAX_CONDITIONS) {
    issues.push(invalid(path, conditions.length, `must have at most ${MAX_CONDITIONS} items`));
  }
  for (const [at, { name, expression }] of conditions.entries()) {
    const own = path.index(at);
    if (!name) issues.push(required(own.child('name')));
    else issues.push(...checkQualifiedName(name).map((why) => invalid(own.child('name'), name, why)));
    if (conditions.findIndex((other) => other.name === name) < at) issues.push(duplicate(own.child('name'), name));
    issues.push(...validateExpression(own.child('expression'), expression));
  }
  return issues;
}

export function validateExpression(path: FieldPath, expression: string | undefined): Issue[] {
  if (!expression?.trim()) return [required(path)];
  const compiled = compileCel(expression);
  return compiled.valid ? [] : [invalid(path, expression, `compilation failed: ${compiled.message}`)];
}

function validateReviewVersions(path: FieldPath, versions: readonly string[]): Issue[] {
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  if (versions.some((version) => REVIEW_VERSIONS.includes(version))) return [];
  return [invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`)];
}

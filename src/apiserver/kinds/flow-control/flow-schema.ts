import { defaultFlowSchemas, MANDATORY } from '../../../api/flow-control.ts';
import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../../../api/generated/flowcontrol-v1.ts';
import {
  FieldPath,
  forbidden,
  invalid,
  type Issue,
  notSupported,
  required,
  semanticEqual,
} from '../../../machinery/values/index.ts';
import { ageColumn, nameColumn, NONE, table, text } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

const HIGHEST_PRECEDENCE = 10_000;
const DISTINGUISHERS = ['ByNamespace', 'ByUser'];
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];
const SUBJECT_KINDS = ['Group', 'ServiceAccount', 'User'];
const FIELD_OF = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const;

export const flowSchemaStrategy = strategyOf<FlowSchema>({
  defaults({ spec }) {
    if (spec !== undefined) spec.matchingPrecedence ||= 1000;
  },
  validate,
  validateUpdate: (object) => validate(object),
  generation: 'spec',
  table: table([
    nameColumn,
    text('PriorityLevel', 'The level of its requests', ({ spec }) => spec?.priorityLevelConfiguration.name ?? ''),
    text('MatchingPrecedence', 'Lower ones are asked first', ({ spec }) => String(spec?.matchingPrecedence ?? '')),
    text('DistinguisherMethod', 'What tells its flows apart', ({ spec }) => spec?.distinguisherMethod?.type ?? NONE),
    ageColumn,
    text(
      'MissingPL',
      'Whether the level does not exist',
      ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
    ),
  ]),
});

function validate(object: FlowSchema): Issue[] {
  const { metadata, spec } = object;
  const { name = '' } = metadata;
  const path = FieldPath.of('spec');
  const { distinguisherMethod, matchingPrecedence = 0, priorityLevelConfiguration, rules = [] } = spec ?? {};
  const issues: Issue[] = [];
  const precedence = (why: string) => invalid(path.child('matchingPrecedence'), matchingPrecedence, why);
  if (matchingPrecedence <= 0) issues.push(precedence('must be a positive value'));
  if (matchingPrecedence > HIGHEST_PRECEDENCE) {
    issues.push(precedence(`must not be greater than ${HIGHEST_PRECEDENCE}`));
  }
  if (matchingPrecedence === 1 && name !== 'exempt') {
    issues.push(precedence("only the schema named 'exempt' may have matchingPrecedence 1"));
  }
  if (distinguisherMethod !== undefined && !DISTINGUISHERS.includes(distinguisherMethod.type)) {
    issues.push(notSupported(path.child('distinguisherMethod').child('type'), distinguisherMethod, DISTINGUISHERS));
  }
  if (!priorityLevelConfiguration?.name) {
    issues.push(required(path.child('priorityLevelConfiguration').child('name'), 'must reference a priority level'));
  }
  rules.forEach((rule, index) => issues.push(...validateRule(rule, path.child('rules').index(index))));
  const fixed = MANDATORY.has(name) ? defaultFlowSchemas.find((one) => one.metadata.name === name)?.spec : undefined;
  if (fixed !== undefined && !semanticEqual(fixed, spec)) {
    issues.push(invalid(path, spec, `spec of '${name}' must equal the fixed value`));
  }
  return issues;
}

function validateRule(rule: Partial<PolicyRulesWithSubjects>, path: FieldPath): Issue[] {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule;
  const issues: Issue[] = [];
  if (subjects.length === 0) {
    issues.push(required(path.child('subjects'), 'subjects must contain at least one value'));
  }
  subjects.forEach((subject, index) => issues.push(...validateSubject(subject, path.child('subjects').index(index))));
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    issues.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  }
  resourceRules.forEach((one, index) =>
    issues.push(...validateResources(one, path.child('resourceRules').index(index))),
  );
  nonResourceRules.forEach((one, index) =>
    issues.push(...validatePaths(one, path.child('nonResourceRules').index(index))),
  );
  return issues;
}

function validateSubject(subject: Subject, path: FieldPath): Issue[] {
  const kind = SUBJECT_KINDS.find((one) => one === subject.kind) as keyof typeof FIELD_OF | undefined;
  if (kind === undefined) return [notSupported(path.child('kind'), subject.kind, SUBJECT_KINDS)];
  const field = FIELD_OF[kind];
  const issues: Issue[] = [];
  const named = subject[field];
  if (named === undefined) {
    issues.push(required(path.child(field), `${field} is required when subject kind is '${kind}'`));
  } else if (!named.name) issues.push(required(path.child(field).child('name')));
  if (subject.serviceAccount !== undefined && kind === 'ServiceAccount' && !subject.serviceAccount.namespace) {
    const why = 'must specify namespace for service account';
    issues.push(required(path.child(field).child('namespace'), why));
  }
  for (const [other, unwanted] of Object.entries(FIELD_OF)) {
    if (unwanted === field || subject[unwanted] === undefined) continue;
    issues.push(forbidden(path.child(unwanted), `${unwanted} is forbidden when subject kind is not '${other}'`));
  }
  return issues;
}

function validateResources(rule: Partial<ResourcePolicyRule>, path: FieldPath): Issue[] {
  const { apiGroups = [], clusterScope = false, namespaces = [], resources = [], verbs = [] } = rule;
  return [
    ...validateVerbs(verbs, path.child('verbs')),
    ...someOrAll(apiGroups, path.child('apiGroups'), {
      empty: 'resource rules must supply at least one api group',
      others: 'api groups',
    }),
    ...someOrAll(resources, path.child('resources'), {
      empty: 'resource rules must supply at least one resource',
      others: 'resources',
    }),
    ...(namespaces.length === 0 && clusterScope
      ? []
      : someOrAll(namespaces, path.child('namespaces'), {
          empty: 'resource rules that are not cluster scoped must supply at least one namespace',
          others: 'namespaces',
        })),
  ];
}

function validatePaths({ nonResourceURLs = [], verbs = [] }: Partial<NonResourcePolicyRule>, path: FieldPath): Issue[] {
  const urls = path.child('nonResourceURLs');
  const issues = [
    ...validateVerbs(verbs, path.child('verbs')),
    ...someOrAll(nonResourceURLs, urls, {
      empty: 'nonResourceURLs must contain at least one value',
      others: 'non-resource URLs',
    }),
  ];
  if (nonResourceURLs.includes('*')) return issues;
  nonResourceURLs.forEach((url, index) => {
    const why = problemOfPath(url);
    if (why !== undefined) issues.push(invalid(urls.index(index), url, why));
  });
  return issues;
}

function problemOfPath(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  return url.includes('*') && !/^[^*]*\/\*$/.test(url) ? 'wildcard can only do suffix matching' : undefined;
}

function validateVerbs(verbs: readonly string[], path: FieldPath): Issue[] {
  const issues = someOrAll(verbs, path, { empty: 'verbs must contain at least one value', others: 'verbs' });
  const known = verbs.includes('*') || verbs.every((verb) => VERBS.includes(verb));
  return known ? issues : [...issues, notSupported(path, verbs, VERBS)];
}

/** A list that names at least one, or all of them by `*` alone. */
function someOrAll(
  list: readonly string[],
  path: FieldPath,
  { empty, others }: { empty: string; others: string },
): Issue[] {
  if (list.length === 0) return [required(path, empty)];
  return list.length > 1 && list.includes('*')
    ? [invalid(path, list, `if '*' is present, must not specify other ${others}`)]
    : [];
}

/** SubjectAccessReview and its relatives: the same authorizer that guards requests answers them. */
import type {
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectRulesReviewSpec,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '../../../api/generated/authorization-v1.ts';
import { FieldPath, type Issue, invalid as invalidValue } from '../../../machinery/values/index.ts';
import type { AuthorizationAttributes, Authorizer } from '../../access/access.ts';
import type { ApiObject } from '../../exchange/object.ts';
import type { Resource } from '../../registry/resource.ts';
import { badRequest, invalid } from '../../exchange/status.ts';
import type { UserInfo } from '../../exchange/user.ts';
import type { RbacAuthorizer } from '../rbac/authorizer.ts';
import { hasMetadata, reviewResource, specOf } from './resource.ts';

const AUTHORIZATION = 'authorization.k8s.io';
const spec = FieldPath.of('spec');

export function accessReviews(authorizer: RbacAuthorizer): Resource[] {
  return [
    reviewResource({ group: AUTHORIZATION, kind: 'SelfSubjectAccessReview' }, async (object, { user }) => {
      const asked = specOf<SubjectAccessReviewSpec>(object);
      refuse('SelfSubjectAccessReview', [...validateAttributes(asked), ...validateMetadata(object)]);
      return { ...object, status: await answer(authorizer, user, asked) };
    }),
    reviewResource({ group: AUTHORIZATION, kind: 'SubjectAccessReview' }, async (object) => {
      const asked = specOf<SubjectAccessReviewSpec>(object);
      refuse('SubjectAccessReview', [...validateSubject(asked), ...validateMetadata(object)]);
      return { ...object, status: await answer(authorizer, subjectOf(asked), asked) };
    }),
    reviewResource(
      { group: AUTHORIZATION, kind: 'LocalSubjectAccessReview', namespaced: true },
      async (object, { namespace }) => {
        const asked = specOf<SubjectAccessReviewSpec>(object);
        refuse('LocalSubjectAccessReview', [...validateSubject(asked), ...validateLocal(object, asked, namespace)]);
        return { ...object, status: await answer(authorizer, subjectOf(asked), asked) };
      },
    ),
    reviewResource({ group: AUTHORIZATION, kind: 'SelfSubjectRulesReview' }, (object, { user }) => {
      const { namespace } = specOf<SelfSubjectRulesReviewSpec>(object);
      if (!namespace) throw badRequest('no namespace on request');
      return { ...object, status: rulesOf(authorizer, user, namespace) };
    }),
  ];
}

async function answer(
  authorizer: Authorizer,
  user: UserInfo,
  { resourceAttributes, nonResourceAttributes }: Partial<SubjectAccessReviewSpec>,
): Promise<SubjectAccessReviewStatus> {
  const question =
    resourceAttributes === undefined || resourceAttributes === null
      ? aboutPath(user, nonResourceAttributes ?? {})
      : aboutResource(user, resourceAttributes);
  const { allowed, reason } = await authorizer.authorize(question);
  return { allowed, ...(reason && { reason }) };
}

function aboutResource(user: UserInfo, asked: ResourceAttributes): AuthorizationAttributes {
  return {
    user,
    verb: asked.verb ?? '',
    resource: {
      group: asked.group ?? '',
      version: asked.version ?? '',
      plural: asked.resource ?? '',
      ...(asked.subresource && { subresource: asked.subresource }),
      ...(asked.namespace && { namespace: asked.namespace }),
      ...(asked.name && { name: asked.name }),
    },
  };
}

const aboutPath = (user: UserInfo, { verb = '', path = '' }: NonResourceAttributes): AuthorizationAttributes => ({
  user,
  verb,
  path,
});

function subjectOf({ user, groups, uid, extra }: Partial<SubjectAccessReviewSpec>): UserInfo {
  return { username: user ?? '', groups: groups ?? [], ...(uid && { uid }), ...(extra && { extra }) };
}

function rulesOf(authorizer: RbacAuthorizer, user: UserInfo, namespace: string) {
  const { rules, problems } = authorizer.rulesFor(user, namespace);
  const resourceRules = [];
  const nonResourceRules = [];
  for (const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of rules) {
    if (resources.length > 0) {
      resourceRules.push({ verbs, apiGroups, resources, ...(resourceNames.length > 0 && { resourceNames }) });
    }
    if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
  }
  return {
    resourceRules,
    nonResourceRules,
    incomplete: problems.length > 0,
    ...(problems.length > 0 && { evaluationError: problems.join(', ') }),
  };
}

function refuse(kind: string, issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalid({ group: AUTHORIZATION, kind }, '', issues);
}

function validateMetadata(object: ApiObject): Issue[] {
  return hasMetadata(object) ? [invalidValue(FieldPath.of('metadata'), object.metadata, 'must be empty')] : [];
}

function validateAttributes(asked: Partial<SubjectAccessReviewSpec>): Issue[] {
  const resource = asked.resourceAttributes ?? undefined;
  const path = asked.nonResourceAttributes ?? undefined;
  if (resource !== undefined && path !== undefined) {
    const why = 'cannot be specified in combination with resourceAttributes';
    return [invalidValue(spec.child('nonResourceAttributes'), path, why)];
  }
  if (resource === undefined && path === undefined) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    return [invalidValue(spec.child('resourceAttributes'), null, why)];
  }
  return [];
}

function validateSubject(asked: Partial<SubjectAccessReviewSpec>): Issue[] {
  const issues = validateAttributes(asked);
  if (!asked.user && (asked.groups ?? []).length === 0) {
    issues.push(invalidValue(spec.child('user'), '', 'at least one of user or group must be specified'));
  }
  return issues;
}

function validateLocal(
  object: ApiObject,
  asked: Partial<SubjectAccessReviewSpec>,
  namespace: string | undefined,
): Issue[] {
  const issues: Issue[] = [];
  if (hasMetadata(object, ['namespace'])) {
    issues.push(invalidValue(FieldPath.of('metadata'), object.metadata, 'must be empty except for namespace'));
  }
  const named = asked.resourceAttributes?.namespace ?? '';
  if (asked.resourceAttributes && named !== namespace) {
    issues.push(invalidValue(spec.child('resourceAttributes', 'namespace'), named, 'must match metadata.namespace'));
  }
  if (asked.nonResourceAttributes) {
    const why = 'disallowed on this kind of request';
    issues.push(invalidValue(spec.child('nonResourceAttributes'), asked.nonResourceAttributes, why));
  }
  return issues;
}

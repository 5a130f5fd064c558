import type { PolicyRule } from '../../api/generated/rbac-v1.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { accessObjects, clusterRules, type InstallOptions, NAME } from '../../webhook/index.ts';

interface Wish {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
}

const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** Asks the API server, right by right, what the service account of an installation may not do. */
export async function gatherLacking(client: Client, options: InstallOptions): Promise<string[]> {
  const { namespace } = options;
  const [, , role] = accessObjects(options);
  const wishes = [
    ...clusterRules(options).flatMap((rule) => wishesOf(rule, '')),
    ...(role.rules ?? []).flatMap((rule) => wishesOf(rule, namespace)),
  ];
  const answers = await Promise.all(
    wishes.map(async (wish) => {
      const { status } = await client.request<{ status?: { allowed?: boolean } }>('POST', PATH, {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: `system:serviceaccount:${namespace}:${NAME}`,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
          resourceAttributes: wish,
        },
      });
      return status?.allowed === true ? [] : [formatWish(wish)];
    }),
  );
  return answers.flat();
}

function wishesOf(
  { apiGroups = [], resourceNames = [''], resources = [], verbs }: PolicyRule,
  namespace: string,
): Wish[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((one) => {
      const [resource = '', subresource = ''] = one.split('/');
      return resourceNames.flatMap((name) =>
        verbs.map((verb) => ({ verb, group, resource, subresource, name, namespace })),
      );
    }),
  );
}

function formatWish({ group, name, resource, subresource, verb }: Wish): string {
  const what = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
  return `${verb} ${what}${name === '' ? '' : ` "${name}"`}`;
}

/** Which rights an installation gives the operator, and which of them it is seen to use: by the API server's audit log. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterRole } from '../../src/api/generated/rbac-v1.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { type InstallOptions, installObjects, operatorUser } from '../../src/webhook/index.ts';

/** One right: `verb group/resource/subresource`, where verbs that let one do the same are one: `read`, `change`. */
export type Right = string;

const READS = ['get', 'list', 'watch'];
const CHANGES = ['update', 'patch'];

function rightOf(verb: string, group: string, resource: string): Right {
  const same = READS.includes(verb) ? 'read' : CHANGES.includes(verb) ? 'change' : verb;
  return `${same} ${group === '' ? '' : `${group}/`}${resource}`;
}

/** Makes the API server write down what service accounts ask for. */
export function auditing(): { readonly flags: readonly string[]; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-audit-'));
  const file = join(folder, 'audit.log');
  const policy = join(folder, 'policy.json');
  const rules = [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }];
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  return { flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${file}`], file };
}

interface AuditLine {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly apiGroup?: string; readonly resource: string; readonly subresource?: string };
  readonly requestURI: string;
  readonly responseStatus?: { readonly code?: number };
}

export interface Used {
  readonly rights: ReadonlySet<Right>;
  /** Requests that were answered with 403. */
  readonly forbidden: readonly string[];
}

/** What the operator of a namespace has asked for. */
export function usedRights(file: string, namespace: string): Used {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine)
    .filter(({ user }) => user.username === operatorUser(namespace));
  const rights = lines.flatMap(({ objectRef, verb }) => {
    if (objectRef === undefined) return [];
    const { apiGroup = '', resource, subresource } = objectRef;
    return rightOf(verb, apiGroup, subresource === undefined ? resource : `${resource}/${subresource}`);
  });
  const forbidden = lines.filter(({ responseStatus }) => responseStatus?.code === 403);
  return { rights: new Set(rights), forbidden: [...new Set(forbidden.map((one) => `${one.verb} ${one.requestURI}`))] };
}

const ROLES = /^(Cluster)?Role$/;
const ACCESS = /^(Namespace|ServiceAccount|(Cluster)?Role(Binding)?)$/;

/** Rights, service account and namespace of an installation, under names that no other installation has. */
export function accessOf(options: InstallOptions): KubeObject[] {
  const own = (name = ''): string => `${name}-${options.namespace}`;
  return installObjects(options)
    .filter(({ kind = '' }) => ACCESS.test(kind))
    .map((object) => {
      if (!object.kind?.startsWith('ClusterRole')) return object;
      const { roleRef } = object as { roleRef?: { name: string } };
      return {
        ...object,
        metadata: { ...object.metadata, name: own(object.metadata.name) },
        ...(roleRef && { roleRef: { ...roleRef, name: own(roleRef.name) } }),
      } as KubeObject;
    });
}

/** Every right that is bound to the operator. */
export function givenRights(options: InstallOptions): ReadonlySet<Right> {
  const objects = installObjects(options);
  const bound = new Set(
    objects
      .filter(({ kind = '' }) => /^(Cluster)?RoleBinding$/.test(kind))
      .map((one) => (one as unknown as { roleRef: { kind: string; name: string } }).roleRef)
      .map(({ kind, name }) => `${kind}/${name}`),
  );
  const rules = objects
    .filter(({ kind = '', metadata }) => ROLES.test(kind) && bound.has(`${kind}/${metadata.name}`))
    .flatMap((role) => (role as ClusterRole).rules ?? []);
  return new Set(
    rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((one) => verbs.map((verb) => rightOf(verb, group, one)))),
    ),
  );
}

/** A short spelling of policy rules: words separated by blanks, `core` for the group without a name. */
import type { PolicyRule } from '../../../api/generated/rbac-v1.ts';

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

export const READ = 'get list watch';
export const WRITE = 'create delete deletecollection patch update';
export const READ_WRITE = `${WRITE} ${READ}`;
export const READ_UPDATE = `${READ} update patch`;

const GROUPS: Readonly<Record<string, string>> = {
  core: '',
  admission: 'admissionregistration.k8s.io',
  authentication: 'authentication.k8s.io',
  authorization: 'authorization.k8s.io',
  certificates: 'certificates.k8s.io',
  coordination: 'coordination.k8s.io',
  discovery: 'discovery.k8s.io',
  events: 'events.k8s.io',
  networking: 'networking.k8s.io',
  node: 'node.k8s.io',
  rbac: 'rbac.authorization.k8s.io',
  resource: 'resource.k8s.io',
  scheduling: 'scheduling.k8s.io',
  storage: 'storage.k8s.io',
};

/** Groups without an entry above stand for themselves (`apps`, `batch`, `*`). */
export function rule(verbs: string, groups: string, resources: string, names = ''): PolicyRule {
  return {
    verbs: words(verbs),
    apiGroups: words(groups).map((group) => GROUPS[group] ?? group),
    resources: words(resources),
    ...(names !== '' && { resourceNames: words(names) }),
  };
}

export function urls(verbs: string, paths: string): PolicyRule {
  return { verbs: words(verbs), nonResourceURLs: words(paths) };
}

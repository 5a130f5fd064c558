/** What the server serves, in the legacy and the aggregated form. Built on demand and kept until the registry changes. */
import { createHash } from 'node:crypto';
import type { Registry } from '../registry/registry.ts';
import { apiVersion, type Resource, type ServedVersion } from '../registry/resource.ts';
import type { Subresource } from '../registry/subresource.ts';
import { aggregatedRemote, type RemoteDiscovery, type RemoteGroupVersion } from './remote.ts';

interface Served {
  readonly resource: Resource;
  readonly version: ServedVersion;
}

/** Versions of one group, most preferred first, each with its resources by name. */
type Group = ReadonlyMap<string, readonly Served[]>;

export interface OpenGroup {
  readonly group: string;
  readonly versions: readonly string[];
}

export class DiscoveryDocuments {
  readonly #registry: Registry;
  readonly #open: readonly OpenGroup[];
  readonly #remote: RemoteDiscovery | undefined;
  readonly #remotes = new Map<string, RemoteGroupVersion>();
  #generation = '';
  #groups = new Map<string, Group>();
  readonly #documents = new Map<string, { readonly body: Buffer; readonly etag: string }>();

  /** `open` groups are served without saying which resources they have. */
  constructor(registry: Registry, open: readonly OpenGroup[] = [], remote?: RemoteDiscovery) {
    this.#registry = registry;
    this.#open = open;
    this.#remote = remote;
  }

  /** One encoded document with its tag; undefined when the path names nothing served. */
  document(
    path: string,
    form: 'legacy' | 'v2' | 'v2beta1',
  ): { readonly body: Buffer; readonly etag: string } | undefined {
    this.#refresh();
    const key = `${form} ${path}`;
    const known = this.#documents.get(key);
    if (known !== undefined) return known;
    const built = form === 'legacy' ? this.#legacy(path) : this.#aggregated(path, form);
    if (built === undefined) return undefined;
    const body = Buffer.from(`${JSON.stringify(built)}\n`);
    const etag = `"${createHash('sha256').update(body).digest('hex').toUpperCase()}"`;
    this.#documents.set(key, { body, etag });
    return { body, etag };
  }

  #refresh(): void {
    const generation = `${this.#registry.generation} ${this.#remote?.generation ?? 0}`;
    if (this.#generation === generation) return;
    this.#generation = generation;
    this.#documents.clear();
    this.#remotes.clear();
    for (const one of this.#remote?.groupVersions() ?? []) this.#remotes.set(apiVersion(one.group, one.version), one);
    const others = [...this.#remotes.values()].map(({ group, version }) => ({ group, versions: [version] }));
    this.#groups = groupResources(this.#registry.resources(), [...this.#open, ...others]);
  }

  #legacy(path: string): object | undefined {
    const [root, group, version] = path.split('/').filter((segment) => segment !== '');
    if (root === 'api') {
      if (group === undefined) {
        return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
      }
      return version === undefined ? this.#resources('', group) : undefined;
    }
    if (group === undefined) {
      const groups = [...this.#groups]
        .filter(([name]) => name !== '')
        .map(([name, versions]) => groupDocument(name, versions));
      return { kind: 'APIGroupList', apiVersion: 'v1', groups };
    }
    const versions = this.#groups.get(group);
    if (group === '' || versions === undefined) return undefined;
    if (version === undefined) return { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group, versions) };
    return this.#resources(group, version);
  }

  #resources(group: string, version: string): object | undefined {
    const served = this.#groups.get(group)?.get(version);
    if (served === undefined) return undefined;
    const resources = served.flatMap(({ resource }) => [
      legacyResource(resource, group, version),
      ...legacySubresources(resource),
    ]);
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion(group, version), resources };
  }

  #aggregated(path: string, form: 'v2' | 'v2beta1'): object | undefined {
    const core = path === '/api';
    const items = [...this.#groups]
      .filter(([name]) => (name === '') === core)
      .map(([name, versions]) => ({
        metadata: name === '' ? { creationTimestamp: null } : { name, creationTimestamp: null },
        versions: [...versions].map(([version, served]) => {
          const remote = this.#remotes.get(apiVersion(name, version));
          if (remote !== undefined) return aggregatedRemote(remote);
          const resources = served.map(({ resource }) => aggregatedResource(resource, name, version));
          return { version, resources, freshness: 'Current' };
        }),
      }));
    return { kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${form}`, metadata: {}, items };
  }
}

/** Kubernetes' own groups first in their fixed order, then the others by name. */
const GROUP_ORDER = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
];

function groupResources(resources: Iterable<Resource>, open: readonly OpenGroup[]): Map<string, Group> {
  const groups = new Map<string, Map<string, Served[]>>();
  for (const { group, versions } of open) {
    const known = groups.get(group) ?? new Map<string, Served[]>();
    groups.set(group, known);
    for (const version of versions) known.set(version, []);
  }
  for (const resource of resources) {
    const versions = groups.get(resource.group) ?? new Map<string, Served[]>();
    groups.set(resource.group, versions);
    for (const version of resource.versions) {
      versions.set(version.name, [...(versions.get(version.name) ?? []), { resource, version }]);
    }
  }
  const rank = (name: string): number => (GROUP_ORDER.includes(name) ? GROUP_ORDER.indexOf(name) : GROUP_ORDER.length);
  const byRank = [...groups].sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return new Map(
    byRank.map(([name, versions]) => {
      const sorted = [...versions].sort(([a], [b]) => compareVersions(a, b));
      return [
        name,
        new Map(
          sorted.map(([version, served]) => [
            version,
            served.sort((a, b) => (a.resource.plural < b.resource.plural ? -1 : 1)),
          ]),
        ),
      ];
    }),
  );
}

/** v2 before v1 before v1beta1 before v1alpha1: stable first, newer first. */
export function compareVersions(a: string, b: string): number {
  const parse = (text: string) => {
    const found = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(text);
    if (found === null) return undefined;
    const stage = found[2] === undefined ? 2 : found[2] === 'beta' ? 1 : 0;
    return { stage, major: Number(found[1]), minor: Number(found[3] ?? 0) };
  };
  const left = parse(a);
  const right = parse(b);
  if (left === undefined || right === undefined) {
    if (left === right) return a < b ? -1 : a > b ? 1 : 0;
    return left === undefined ? 1 : -1;
  }
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor;
}

function groupDocument(name: string, versions: Group): object {
  const list = [...versions.keys()].map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: list, preferredVersion: list[0] };
}

function storageHash(resource: Resource): string {
  return (
    createHash('sha256')
      .update(`${resource.stored.group}/${resource.stored.version}/${resource.kind}`)
      .digest('base64')
      .slice(0, 11) + '='
  );
}

function legacyResource(resource: Resource, _group: string, _version: string): object {
  return {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
    ...(resource.categories.length > 0 && { categories: resource.categories }),
    ...(resource.review === undefined && { storageVersionHash: storageHash(resource) }),
  };
}

const byName = (subresources: ReadonlyMap<string, Subresource>) =>
  [...subresources].sort(([a], [b]) => (a < b ? -1 : 1));

function legacySubresources(resource: Resource): object[] {
  return byName(resource.subresources).map(([name, { kind, verbs }]) => ({
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...(kind.version !== undefined && { group: kind.group ?? '', version: kind.version }),
    kind: kind.kind,
    verbs,
  }));
}

function aggregatedResource(resource: Resource, group: string, version: string): object {
  return {
    resource: resource.plural,
    responseKind: { group, version, kind: resource.kind },
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
    ...(resource.categories.length > 0 && { categories: resource.categories }),
    ...(resource.subresources.size > 0 && {
      subresources: byName(resource.subresources).map(([name, { kind, verbs }]) => ({
        subresource: name,
        responseKind: { group: kind.group ?? group, version: kind.version ?? version, kind: kind.kind },
        verbs,
      })),
    }),
  };
}

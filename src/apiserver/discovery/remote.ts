/** What other servers serve, as they said themselves, for the documents that tell of everything. */

export interface RemoteResource {
  readonly name: string;
  readonly singularName?: string;
  readonly namespaced?: boolean;
  readonly kind?: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface RemoteGroupVersion {
  readonly group: string;
  readonly version: string;
  readonly versionPriority: number;
  /** Undefined: it does not answer. */
  readonly resources: readonly RemoteResource[] | undefined;
}

export interface RemoteDiscovery {
  /** Grows with every change. */
  readonly generation: number;
  groupVersions(): Iterable<RemoteGroupVersion>;
}

/** One version of an APIGroupDiscovery; `Stale` where the server does not answer. */
export function aggregatedRemote({ group, resources: answered, version }: RemoteGroupVersion): object {
  const resources = answered ?? [];
  const kindOf = (one: RemoteResource) => ({
    group: one.group ?? group,
    version: one.version ?? version,
    kind: one.kind ?? '',
  });
  const main = resources.filter(({ name }) => !name.includes('/'));
  return {
    version,
    resources: main.map((one) => {
      const inner = resources.filter(({ name }) => name.startsWith(`${one.name}/`));
      return {
        resource: one.name,
        responseKind: kindOf(one),
        scope: one.namespaced === true ? 'Namespaced' : 'Cluster',
        singularResource: one.singularName ?? '',
        verbs: one.verbs ?? [],
        ...(one.shortNames && { shortNames: one.shortNames }),
        ...(one.categories && { categories: one.categories }),
        ...(inner.length > 0 && {
          subresources: inner.map((sub) => ({
            subresource: sub.name.slice(one.name.length + 1),
            responseKind: kindOf(sub),
            verbs: sub.verbs ?? [],
          })),
        }),
      };
    }),
    freshness: answered === undefined ? 'Stale' : 'Current',
  };
}

import type { ResourceType } from '../../api/resource.ts';
import type { Client } from './client.ts';

export interface DiscoveredResource extends ResourceType {
  readonly verbs: ReadonlySet<string>;
}

export interface Discovery {
  /** Every resource once, in its group's preferred version among those that have it. */
  readonly resources: readonly DiscoveredResource[];
  /** Group versions whose resources the server could not tell. */
  readonly failed: readonly string[];
}

interface GroupDiscovery {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly freshness?: string;
    readonly resources?: readonly {
      readonly resource: string;
      readonly scope: string;
      readonly verbs: readonly string[];
      readonly responseKind?: { readonly kind?: string };
    }[];
  }[];
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Asks the server what it serves, custom resources included. Two requests. */
export async function discover(client: Client): Promise<Discovery> {
  const lists = await Promise.all(
    ['/api', '/apis'].map((path) =>
      client.request<{ items?: readonly GroupDiscovery[] }>('GET', path, undefined, { accept: AGGREGATED }),
    ),
  );
  const resources: DiscoveredResource[] = [];
  const failed: string[] = [];
  for (const group of lists.flatMap(({ items }) => items ?? [])) readGroup(group, resources, failed);
  return { resources, failed };
}

function readGroup(
  { metadata, versions = [] }: GroupDiscovery,
  resources: DiscoveredResource[],
  failed: string[],
): void {
  const group = metadata?.name ?? '';
  const known = new Set<string>();
  for (const { version, freshness, resources: listed = [] } of versions) {
    if (freshness === 'Stale') failed.push(group === '' ? version : `${group}/${version}`);
    for (const { resource: plural, responseKind, scope, verbs } of listed) {
      if (known.has(plural)) continue;
      known.add(plural);
      const kind = responseKind?.kind ?? '';
      resources.push({ group, version, kind, plural, namespaced: scope === 'Namespaced', verbs: new Set(verbs) });
    }
  }
}

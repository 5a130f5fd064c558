/** What a server serves, from its discovery documents. */
export interface Resource {
  readonly group: string;
  /** `v1` or `apps/v1`. */
  readonly apiVersion: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly subresources: readonly string[];
}

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

interface GroupList {
  readonly groups: readonly {
    readonly name: string;
    readonly versions: readonly { readonly groupVersion: string }[];
  }[];
}

export async function discover(get: (path: string) => Promise<unknown>): Promise<Resource[]> {
  const { groups } = (await get('/apis')) as GroupList;
  const versions = groups.flatMap((group) => group.versions.map(({ groupVersion }) => `/apis/${groupVersion}`));
  const lists: Resource[][] = [];
  for (const path of ['/api/v1', ...versions]) lists.push(resourcesIn((await get(path)) as ResourceList));
  return lists.flat();
}

function resourcesIn({ groupVersion, resources }: ResourceList): Resource[] {
  const group = groupVersion.includes('/') ? (groupVersion.split('/', 1)[0] as string) : '';
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ kind, name, namespaced }) => ({
      group,
      apiVersion: groupVersion,
      plural: name,
      kind,
      namespaced,
      subresources: resources
        .filter((other) => other.name.startsWith(`${name}/`))
        .map((other) => other.name.slice(name.length + 1)),
    }));
}

const keyOf = ({ apiVersion, plural }: Resource): string => `${apiVersion}/${plural}`;

/** What both serve, with the subresources that both have. */
export function shared(ours: readonly Resource[], theirs: readonly Resource[]): Resource[] {
  const known = new Map(theirs.map((resource) => [keyOf(resource), resource]));
  return ours.flatMap((resource) => {
    const other = known.get(keyOf(resource));
    if (other === undefined) return [];
    return [{ ...resource, subresources: resource.subresources.filter((name) => other.subresources.includes(name)) }];
  });
}

import type { OwnerReference } from '../../../api/generated/meta-v1.ts';
import { qualifiedResource, resourcePath, splitApiVersion } from '../../../api/resource.ts';
import { type Client, isNotFound } from '../../../machinery/runtime/index.ts';
import type { ScaleClient } from './finder.ts';

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
}

interface Scale {
  readonly metadata: { readonly uid?: string };
  readonly spec?: { readonly replicas?: number };
}

/** The versions of Scale that are understood. */
const SCALE_VERSIONS = new Set(['autoscaling/v1', 'extensions/v1beta1', 'apps/v1beta1', 'apps/v1beta2']);

/**
 * Reads `/scale` of any kind that discovery knows, custom resources included. What discovery says is remembered until
 * a kind is missing from it.
 */
export function createScaleClient(client: Client): ScaleClient {
  const known = new Map<string, readonly ApiResource[]>();

  async function resources(apiVersion: string, fresh = false): Promise<readonly ApiResource[]> {
    const remembered = known.get(apiVersion);
    if (remembered !== undefined && !fresh) return remembered;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const list = await client.request<{ resources?: ApiResource[] }>('GET', root);
    known.set(apiVersion, list.resources ?? []);
    return list.resources ?? [];
  }

  async function find({ apiVersion, kind }: OwnerReference): Promise<ApiResource> {
    const isIt = (resource: ApiResource): boolean => resource.kind === kind && !resource.name.includes('/');
    const noMatch = (): Error => new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
    try {
      const found = (await resources(apiVersion)).find(isIt) ?? (await resources(apiVersion, true)).find(isIt);
      if (found !== undefined) return found;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    throw noMatch();
  }

  return {
    async get(owner, namespace) {
      const { group, version } = splitApiVersion(owner.apiVersion);
      const resource = await find(owner);
      const type = { group, version, plural: resource.name, namespaced: resource.namespaced };
      const path = resourcePath(type, {
        namespace: resource.namespaced ? namespace : undefined,
        name: owner.name,
        subresource: 'scale',
      });
      try {
        const { metadata, spec } = await client.request<Scale>('GET', path);
        // A reference by name alone has no uid to compare.
        return owner.uid === '' || metadata.uid === owner.uid
          ? { uid: metadata.uid ?? '', scale: spec?.replicas ?? 0 }
          : undefined;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      // Either the object is gone or its kind has no scale; only discovery can tell which.
      const served = (await resources(owner.apiVersion, true)).some(
        (one) =>
          one.name === `${resource.name}/scale` &&
          one.kind === 'Scale' &&
          SCALE_VERSIONS.has(`${one.group ?? group}/${one.version ?? version}`),
      );
      if (!served) throw new Error(`${qualifiedResource(type)} does not implement the scale subresource`);
      return undefined;
    },
  };
}

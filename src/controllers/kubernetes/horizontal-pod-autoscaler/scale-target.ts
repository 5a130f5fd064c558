import type { Scale } from '../../../api/generated/autoscaling-v1.ts';
import type { CrossVersionObjectReference } from '../../../api/generated/autoscaling-v2.ts';
import { builtinKinds } from '../../../api/registry.ts';
import { resourcePath, splitApiVersion } from '../../../api/resource.ts';
import { type Client, discover, isConflict } from '../../../machinery/runtime/index.ts';

export interface ScaleTarget {
  readonly path: string;
  readonly scale: Scale;
}

/** Reads the scale subresource of whatever an autoscaler points at, custom resources included. */
export async function readScale(
  client: Client,
  reference: CrossVersionObjectReference,
  namespace: string,
): Promise<ScaleTarget> {
  const type = await resourceOf(client, reference);
  const path = resourcePath(type, { namespace, name: reference.name, subresource: 'scale' });
  return { path, scale: await client.request<Scale>('GET', path) };
}

/** The resource of the referenced kind. Only what has no type here is asked for. */
export async function resourceOf(client: Client, { apiVersion = '', kind }: CrossVersionObjectReference) {
  const { group, version } = splitApiVersion(apiVersion);
  const builtin = builtinKinds.find((row) => row.kind === kind && row.group === group);
  const type =
    builtin === undefined
      ? await discovered(client, group, kind)
      : { group, version: builtin.versions[0], plural: builtin.plural, namespaced: builtin.namespaced };
  if (type === undefined) throw new Error(`no matches for kind "${kind}" in group "${group}" version "${version}"`);
  return type;
}

async function discovered(client: Client, group: string, kind: string) {
  const { resources } = await discover(client);
  return resources.find((resource) => resource.group === group && resource.kind === kind);
}

const ATTEMPTS = 5;

/** Writes a size, on a fresh copy after each conflict. */
export async function writeScale(client: Client, { path, scale }: ScaleTarget, replicas: number): Promise<void> {
  let latest = scale;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.request('PUT', path, { ...latest, spec: { ...latest.spec, replicas } });
      return;
    } catch (error) {
      if (!isConflict(error) || attempt >= ATTEMPTS) throw error;
      latest = await client.request<Scale>('GET', path);
    }
  }
}

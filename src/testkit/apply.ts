import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { CustomResourceDefinition } from '../api/generated/apiextensions-v1.ts';
import { builtinType } from '../api/registry.ts';
import type { KubeObject, ResourceType } from '../api/resource.ts';
import { type Client, createApply, discover, settle } from '../machinery/runtime/index.ts';

/** A control plane, or anything else that has a client. */
export interface HasClient {
  readonly client: Client;
}

/**
 * Server-side apply of YAML, of several documents if need be, or of objects, in this order. The namespace is `default` where
 * none is named. A CustomResourceDefinition is served before the next object is applied. Returns them as they were stored.
 */
export async function apply(plane: HasClient, manifest: string | readonly KubeObject[]): Promise<KubeObject[]> {
  const applyOne = createApply(plane.client, 'testkit');
  const applied: KubeObject[] = [];
  for (const object of typeof manifest === 'string' ? parse(manifest) : manifest) {
    applied.push(await applyOne(object));
    if (object.kind === 'CustomResourceDefinition') await established(plane.client, object);
  }
  return applied;
}

/**
 * Applies every CustomResourceDefinition in the `.yaml`, `.yml` and `.json` files of a folder and leaves other objects out.
 * Returns their names. When it returns, their kinds are served.
 */
export async function installCrds(plane: HasClient, folder: string): Promise<string[]> {
  const definitions = readdirSync(folder)
    .filter((file) => /\.(ya?ml|json)$/.test(file))
    .sort()
    .flatMap((file) => parse(readFileSync(join(folder, file), 'utf8'), file))
    .filter(({ kind }) => kind === 'CustomResourceDefinition');
  if (definitions.length === 0)
    throw new Error(`Cannot install definitions: ${folder} has no CustomResourceDefinition`);
  const applied = await apply(plane, definitions);
  return applied.map(({ metadata }) => metadata.name ?? '');
}

const definitionType = builtinType(
  'CustomResourceDefinition',
  'apiextensions.k8s.io',
) as ResourceType<CustomResourceDefinition>;
const LOOKS = 500;

/** Waits until the server has accepted the names of a definition and serves its kind. */
async function established(client: Client, { metadata }: KubeObject): Promise<void> {
  const name = metadata.name ?? '';
  for (let look = 0; look < LOOKS; look += 1) {
    const { spec, status } = await client.get(definitionType, { name });
    const refused = status?.conditions?.find(
      ({ status: value, type }) => type === 'NamesAccepted' && value === 'False',
    );
    if (refused !== undefined) throw new Error(`Cannot install ${name}: ${refused.reason}: ${refused.message}`);
    const { resources } = await discover(client);
    if (resources.some(({ group, plural }) => group === spec?.group && plural === spec?.names?.plural)) return;
    await settle();
  }
  throw new Error(`Cannot install ${name}: the server does not serve it`);
}

function parse(text: string, file?: string): KubeObject[] {
  const where = file === undefined ? '' : ` in ${file}`;
  return parseAllDocuments(text).flatMap((document, index) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`Cannot read document ${index + 1}${where}: ${error.message}`);
    const object = document.toJS() as KubeObject | null;
    if (object === null) return [];
    if (typeof object !== 'object' || !object.apiVersion || !object.kind || !object.metadata)
      throw new Error(`Cannot read document ${index + 1}${where}: it needs apiVersion, kind and metadata`);
    return [object];
  });
}

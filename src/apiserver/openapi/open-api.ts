import { createHash } from 'node:crypto';
import { loadSchema, type Schema } from '../../api/schema/index.ts';
import { nextTurn } from '../../machinery/runtime/index.ts';
import type { JsonObject } from '../../machinery/values/index.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resource, ServedVersion } from '../registry/resource.ts';
import type { Dialect } from './dialect.ts';
import { encodeDocument } from './gnostic.ts';
import { type DocumentPart, Parts } from './parts.ts';

export interface EncodedDocument {
  readonly body: Buffer;
  readonly hash: string;
}

interface Served {
  readonly resource: Resource;
  readonly version: ServedVersion;
}

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex').toUpperCase();

/** Names the content of a document without building it: everything it is derived from. */
function fingerprint(served: readonly Served[]): string {
  const inputs = served.map(({ resource, version }) => [
    [
      VERSION,
      resource.group,
      version.name,
      resource.plural,
      resource.kind,
      resource.listKind,
      resource.namespaced,
      resource.verbs,
    ],
    [...resource.subresources].map(([name, { kind, verbs }]) => [name, kind, verbs]),
    resource.schemaFor?.(version.name) ?? null,
  ]);
  return sha256(JSON.stringify(inputs));
}

const TITLE = 'Kubernetes';
const VERSION = 'v1.36.4';

/**
 * The OpenAPI documents of what the registry serves. Built when first asked for and kept until the registry changes;
 * encodings of single resources outlive that, so one new definition does not cost the work for all.
 */
export class OpenApi {
  readonly #registry: Registry;
  readonly #parts: Parts;
  readonly #others: () => Iterable<string>;
  readonly #documents = new Map<string, EncodedDocument>();
  readonly #json = new WeakMap<object, string>();
  readonly #gnostic = new WeakMap<object, Buffer>();
  #generation = -1;

  /** `others`: the paths of group versions that other servers have documents of. */
  constructor(registry: Registry, schema: Schema = loadSchema(), others: () => Iterable<string> = () => []) {
    this.#registry = registry;
    this.#others = others;
    this.#parts = new Parts(schema);
  }

  /** `/openapi/v3`: where the document of each group-version is. */
  index(): EncodedDocument {
    const own = this.#cached('v3', () => {
      const paths: JsonObject = {};
      for (const [path, served] of [...this.#groupVersions()].sort(([a], [b]) => (a < b ? -1 : 1))) {
        paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${fingerprint(served)}` };
      }
      return Buffer.from(JSON.stringify({ paths }));
    });
    const others = [...this.#others()];
    if (others.length === 0) return own;
    const { paths } = JSON.parse(own.body.toString('utf8')) as { paths: Record<string, object> };
    // Their documents change when they please: clients ask again each time.
    for (const path of others) paths[path] = { serverRelativeURL: `/openapi/v3/${path}` };
    const body = Buffer.from(JSON.stringify({ paths }));
    return { body, hash: sha256(body) };
  }

  /** The version 3 document of `api/v1` or `apis/apps/v1`; undefined when that is not served. */
  groupVersion(path: string): EncodedDocument | undefined {
    const served = this.#groupVersions().get(path);
    if (served === undefined) return undefined;
    const build = (): Buffer => {
      const { paths, definitions } = this.#merge(served, 'v3');
      const info = JSON.stringify({ title: TITLE, version: VERSION });
      return Buffer.from(
        `{"openapi":"3.0.0","info":${info},"paths":{${paths}},"components":{"schemas":{${definitions}}}}`,
      );
    };
    return this.#cached(`v3 ${path}`, build, () => fingerprint(served));
  }

  /** The version 2 document of everything. */
  swagger(): Promise<EncodedDocument> {
    const encode = ({ paths, definitions }: DocumentPart): void => {
      for (const value of [paths, ...definitions.values()]) this.#text(value);
    };
    return this.#inTurns('v2', this.#json, encode, () => {
      const { paths, definitions } = this.#merge([...this.#groupVersions().values()].flat(), 'v2');
      const info = JSON.stringify({ title: TITLE, version: VERSION });
      return Buffer.from(`{"swagger":"2.0","info":${info},"paths":{${paths}},"definitions":{${definitions}}}`);
    });
  }

  /** The same in protobuf. */
  swaggerProtobuf(): Promise<EncodedDocument> {
    const encode = ({ paths, definitions }: DocumentPart): void => {
      this.#message(paths, 'paths', paths);
      for (const [name, definition] of definitions) this.#message(definition, 'definitions', { [name]: definition });
    };
    return this.#inTurns('v2 protobuf', this.#gnostic, encode, () => {
      const chunks = [encodeDocument({ swagger: '2.0', info: { title: TITLE, version: VERSION } })];
      const seen = new Map<string, JsonObject>(this.#parts.common('v2'));
      for (const { resource, version } of [...this.#groupVersions().values()].flat()) {
        const part = this.#parts.part(resource, version, 'v2');
        chunks.push(this.#message(part.paths, 'paths', part.paths));
        for (const [name, definition] of part.definitions) seen.set(name, definition);
      }
      for (const [name, definition] of seen) {
        chunks.push(this.#message(definition, 'definitions', { [name]: definition }));
      }
      return Buffer.concat(chunks);
    });
  }

  /**
   * A document of everything: what is not encoded yet is, a resource at a time, with turns for others in between. The
   * first one takes some 100 ms, which nobody else has to wait for.
   */
  async #inTurns(
    key: string,
    encoded: WeakMap<object, unknown>,
    encode: (part: DocumentPart) => void,
    build: () => Buffer,
  ): Promise<EncodedDocument> {
    for (const { resource, version } of [...this.#groupVersions().values()].flat()) {
      if (this.#current().has(key)) break;
      const part = this.#parts.part(resource, version, 'v2');
      if (encoded.has(part.paths)) continue;
      encode(part);
      await nextTurn();
    }
    return this.#cached(key, build);
  }

  #groupVersions(): Map<string, Served[]> {
    const found = new Map<string, Served[]>();
    for (const resource of this.#registry.resources()) {
      for (const version of resource.versions) {
        const path = resource.group === '' ? `api/${version.name}` : `apis/${resource.group}/${version.name}`;
        const served = found.get(path) ?? [];
        served.push({ resource, version });
        found.set(path, served);
      }
    }
    return found;
  }

  /** Members of `paths` and of the definitions, as JSON text without the braces around. */
  #merge(served: readonly Served[], dialect: Dialect) {
    const definitions = new Map<string, JsonObject>(this.#parts.common(dialect));
    const paths: string[] = [];
    for (const { resource, version } of served) {
      const part = this.#parts.part(resource, version, dialect);
      const text = this.#text(part.paths);
      if (text.length > 2) paths.push(text.slice(1, -1));
      for (const [name, definition] of part.definitions) definitions.set(name, definition);
    }
    const members = [...definitions.keys()]
      .sort()
      .map((name) => `${JSON.stringify(name)}:${this.#text(definitions.get(name) as JsonObject)}`);
    return { paths: paths.join(','), definitions: members.join(',') };
  }

  #text(value: object): string {
    let text = this.#json.get(value);
    if (text === undefined) {
      text = JSON.stringify(value);
      this.#json.set(value, text);
    }
    return text;
  }

  /** Of a value that is a member of the document or of its definitions. */
  #message(value: object, member: 'paths' | 'definitions', members: JsonObject): Buffer {
    let message = this.#gnostic.get(value);
    if (message === undefined) {
      message = encodeDocument({ [member]: members });
      this.#gnostic.set(value, message);
    }
    return message;
  }

  #cached(key: string, build: () => Buffer, hashOf: (body: Buffer) => string = sha256): EncodedDocument {
    const documents = this.#current();
    let document = documents.get(key);
    if (document === undefined) {
      const body = build();
      document = { body, hash: hashOf(body) };
      documents.set(key, document);
    }
    return document;
  }

  /** The documents of what the registry serves now. */
  #current(): Map<string, EncodedDocument> {
    if (this.#generation !== this.#registry.generation) {
      this.#documents.clear();
      this.#generation = this.#registry.generation;
    }
    return this.#documents;
  }
}

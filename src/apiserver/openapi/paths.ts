import type { JsonObject } from '../../machinery/values/index.ts';
import type { Resource } from '../registry/resource.ts';
import type { Subresource } from '../registry/subresource.ts';
import type { Dialect } from './dialect.ts';
import { type KindRef, type Operation, operationObject, pathParameter } from './operations.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const PATCH = `${META}.Patch`;
const STATUS = `${META}.Status`;
const DELETE_OPTIONS = `${META}.DeleteOptions`;
const WRITE = ['dryRun', 'fieldManager', 'fieldValidation'];
const DELETE = ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'];
const LIST = ['allowWatchBookmarks', 'continue', 'fieldSelector', 'labelSelector', 'limit', 'resourceVersion'].concat([
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
]);
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

/** How definitions of kinds are called, which only the caller knows for custom ones. */
export type NameKind = (kind: KindRef) => string;

/** Every path of one version of a resource with its operations. */
export function pathsOf(resource: Resource, version: string, nameKind: NameKind, dialect: Dialect): JsonObject {
  const builder = new PathBuilder(resource, version, nameKind, dialect);
  return builder.build();
}

class PathBuilder {
  readonly #resource: Resource;
  readonly #version: string;
  readonly #nameKind: NameKind;
  readonly #dialect: Dialect;
  readonly #kind: KindRef;

  constructor(resource: Resource, version: string, nameKind: NameKind, dialect: Dialect) {
    this.#resource = resource;
    this.#version = version;
    this.#nameKind = nameKind;
    this.#dialect = dialect;
    this.#kind = { group: resource.group, version, kind: resource.kind };
  }

  build(): JsonObject {
    const { group, plural, namespaced } = this.#resource;
    const root = group === '' ? `/api/${this.#version}` : `/apis/${group}/${this.#version}`;
    const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
    const paths: JsonObject = {};
    const scope = namespaced ? [this.#parameter('namespace', 'The namespace of the object.')] : [];
    const named = [this.#parameter('name', `The name of the ${this.#resource.kind}.`), ...scope];
    this.#add(paths, collection, this.#collection(), scope);
    if (namespaced && this.#has('list'))
      this.#add(paths, `${root}/${plural}`, { get: this.#list('ForAllNamespaces') }, []);
    this.#add(paths, `${collection}/{name}`, this.#item(), named);
    for (const [name, subresource] of this.#resource.subresources) {
      this.#add(paths, `${collection}/{name}/${name}`, this.#subresource(name, subresource), named);
    }
    return paths;
  }

  #parameter(name: string, description: string): JsonObject {
    return pathParameter(name, description, this.#dialect);
  }

  #add(
    paths: JsonObject,
    path: string,
    operations: Record<string, Operation | undefined>,
    parameters: JsonObject[],
  ): void {
    const item: JsonObject = {};
    for (const [method, operation] of Object.entries(operations)) {
      if (operation !== undefined) item[method] = operationObject(operation, this.#dialect);
    }
    if (Object.keys(item).length === 0) return;
    paths[path] = parameters.length > 0 ? { ...item, parameters } : item;
  }

  #has(verb: Resource['verbs'][number]): boolean {
    return this.#resource.verbs.includes(verb);
  }

  #id(verb: string, suffix = ''): string {
    const group = this.#resource.group === '' ? 'core' : (this.#resource.group.split('.')[0] ?? '');
    const scope = this.#resource.namespaced && suffix !== 'ForAllNamespaces' ? 'Namespaced' : '';
    return `${verb}${capital(group)}${capital(this.#version)}${scope}${this.#resource.kind}${suffix}`;
  }

  #definition(kind: string = this.#resource.kind): string {
    return this.#nameKind({ ...this.#kind, kind });
  }

  #list(suffix = ''): Operation | undefined {
    if (!this.#has('list')) return undefined;
    const answer = this.#definition(this.#resource.listKind);
    return { action: 'list', kind: this.#kind, id: this.#id('list', suffix), answer, query: LIST };
  }

  #collection(): Record<string, Operation | undefined> {
    const own = this.#definition();
    return {
      get: this.#list(),
      post: this.#has('create')
        ? { action: 'post', kind: this.#kind, id: this.#id('create'), body: own, answer: own, query: WRITE }
        : undefined,
      delete: this.#has('deletecollection')
        ? {
            action: 'deletecollection',
            kind: this.#kind,
            id: this.#id('delete', 'Collection'),
            body: DELETE_OPTIONS,
            answer: STATUS,
            query: [...DELETE, 'fieldSelector', 'labelSelector'],
          }
        : undefined,
    };
  }

  #item(): Record<string, Operation | undefined> {
    const own = this.#definition();
    return {
      get: this.#has('get')
        ? { action: 'get', kind: this.#kind, id: this.#id('read'), answer: own, query: [] }
        : undefined,
      put: this.#has('update')
        ? { action: 'put', kind: this.#kind, id: this.#id('replace'), body: own, answer: own, query: WRITE }
        : undefined,
      patch: this.#has('patch') ? this.#patch(own, this.#kind, '') : undefined,
      delete: this.#has('delete')
        ? {
            action: 'delete',
            kind: this.#kind,
            id: this.#id('delete'),
            body: DELETE_OPTIONS,
            answer: STATUS,
            query: DELETE,
          }
        : undefined,
    };
  }

  #patch(answer: string, kind: KindRef, suffix: string): Operation {
    return {
      action: 'patch',
      kind,
      id: this.#id('patch', suffix),
      body: PATCH,
      // Clients that find strategic merge here send it; custom resources do not take it.
      bodyTypes: this.#resource.custom ? PATCH_TYPES.filter((type) => !type.includes('strategic')) : PATCH_TYPES,
      answer,
      query: [...WRITE, 'force'],
    };
  }

  #subresource(name: string, { kind, verbs }: Subresource): Record<string, Operation | undefined> {
    const ref: KindRef = {
      group: kind.group ?? this.#resource.group,
      version: kind.version ?? this.#version,
      kind: kind.kind,
    };
    const own = this.#nameKind(ref);
    const suffix = capital(name);
    const write = (method: string, verb: string): Operation => ({
      action: method,
      kind: ref,
      id: this.#id(verb, suffix),
      body: own,
      answer: own,
      query: WRITE,
    });
    const has = (verb: (typeof verbs)[number]): boolean => verbs.includes(verb);
    return {
      get: has('get') ? { action: 'get', kind: ref, id: this.#id('read', suffix), answer: own, query: [] } : undefined,
      put: has('update') ? write('put', 'replace') : undefined,
      post: has('create') ? write('post', 'create') : undefined,
      patch: has('patch') ? this.#patch(own, ref, suffix) : undefined,
    };
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

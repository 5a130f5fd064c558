/** Writes at random: applies by three managers, merge and strategic patches by two more, over a few small values. */
import { isObject, type JsonObject } from '../../../src/machinery/values/index.ts';
import type { Step } from './exchange.ts';

export class RandomWrites {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  create(kind: Kind, name: string): Step {
    const spec = kind === DEPLOYMENT ? this.#deployment(true) : { ...this.#widget(), size: 1 };
    return { method: 'POST', path: kind.path, body: { ...kind.type, metadata: { name }, spec } };
  }

  write(kind: Kind, name: string): Step {
    const spec = kind === DEPLOYMENT ? this.#deployment(false) : this.#widget();
    const path = `${kind.path}/${name}`;
    if (this.chance(0.6)) {
      const query = `fieldManager=${this.#pick(['m1', 'm2', 'm3'])}&force=${this.chance(0.7)}`;
      const body = { ...kind.type, metadata: this.#metadata(name), ...(this.chance(0.9) && { spec }) };
      return { method: 'PATCH', type: 'application/apply-patch+yaml', path: `${path}?${query}`, body };
    }
    const strategic = kind === DEPLOYMENT && this.chance(0.5);
    const metadata = { labels: this.#labels(), ...(strategic && { finalizers: ['x.io/c'] }) };
    return {
      method: 'PATCH',
      type: strategic ? 'application/strategic-merge-patch+json' : 'application/merge-patch+json',
      path: `${path}?fieldManager=${this.#pick(['u1', 'u2'])}`,
      body: { metadata: this.#withNulls(metadata), spec: this.#withNulls(spec) },
    };
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }

  #some<T>(list: readonly T[], probability = 0.5): T[] {
    return list.filter(() => this.chance(probability));
  }

  /** The value at this probability, or nothing to spread. */
  #maybe(probability: number, value: () => JsonObject): JsonObject {
    return this.chance(probability) ? value() : {};
  }

  #labels(names: readonly string[] = ['a', 'b', 'c']): JsonObject {
    return Object.fromEntries(this.#some(names).map((name) => [name, this.#pick(['1', '2'])]));
  }

  #metadata(name: string): JsonObject {
    return {
      name,
      ...this.#maybe(0.3, () => ({ labels: this.#labels() })),
      ...this.#maybe(0.3, () => ({ annotations: this.#labels() })),
      ...this.#maybe(0.2, () => ({ finalizers: this.#some(['x.io/a', 'x.io/b']) })),
    };
  }

  #container(name: string): JsonObject {
    return {
      name,
      image: this.#pick(['i:1', 'i:2']),
      ...this.#maybe(0.4, () => ({
        env: this.#some(['X', 'Y', 'Z'], 0.4).map((key) => ({ name: key, value: this.#pick(['1', '2']) })),
      })),
      ...this.#maybe(0.4, () => ({ ports: this.#some([80, 81], 0.4).map((port) => this.#port(port)) })),
      ...this.#maybe(0.3, () => ({ command: [this.#pick(['x', 'y'])] })),
      ...this.#maybe(0.2, () => ({ resources: { requests: { cpu: this.#pick(['100m', '1']) } } })),
    };
  }

  #port(containerPort: number): JsonObject {
    return {
      containerPort,
      ...this.#maybe(0.3, () => ({ protocol: this.#pick(['TCP', 'UDP']) })),
      ...this.#maybe(0.3, () => ({ name: `${this.#pick(['p', 'q'])}${containerPort}` })),
    };
  }

  #containers(): JsonObject[] {
    const names = this.#some(['a', 'b', 'c']);
    if (names.length === 0) names.push('a');
    return (this.chance(0.3) ? names.reverse() : names).map((name) => this.#container(name));
  }

  #deployment(whole: boolean): JsonObject {
    return {
      ...this.#maybe(0.6, () => ({ replicas: this.#pick([1, 2, 3]) })),
      ...this.#maybe(whole ? 1 : 0.2, () => ({ selector: { matchLabels: { app: 'x' } } })),
      ...this.#maybe(0.3, () => ({ paused: this.chance(0.5) })),
      ...this.#maybe(0.3, () => ({ minReadySeconds: this.#pick([0, 1, 2]) })),
      ...this.#maybe(0.2, () => ({
        strategy: this.#pick([
          { type: 'Recreate' },
          { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
          { type: 'RollingUpdate', rollingUpdate: { maxSurge: '50%' } },
        ]),
      })),
      ...this.#maybe(whole ? 1 : 0.7, () => ({
        template: {
          metadata: { labels: { app: 'x', ...this.#labels() } },
          spec: {
            containers: this.#containers(),
            ...this.#maybe(0.3, () => ({ tolerations: [{ key: this.#pick(['k', 'l']), operator: 'Exists' }] })),
            ...this.#maybe(0.3, () => ({
              volumes: this.#some(['v', 'w']).map((name) => ({
                name,
                ...this.#pick<JsonObject>([{ emptyDir: {} }, { configMap: { name: 'm' } }]),
              })),
            })),
            ...this.#maybe(0.2, () => ({ nodeSelector: this.#labels() })),
            ...this.#maybe(0.2, () => ({ imagePullSecrets: [{ name: this.#pick(['s', 't']) }] })),
          },
        },
      })),
    };
  }

  #widget(): JsonObject {
    return {
      ...this.#maybe(0.8, () => ({ size: this.#pick([1, 2, 3]) })),
      ...this.#maybe(0.4, () => ({ tags: this.#some(['a', 'b', 'c']) })),
      ...this.#maybe(0.5, () => ({
        parts: this.#some(['p', 'q', 'r']).map((name) => ({
          name,
          ...this.#maybe(0.5, () => ({ count: this.#pick([1, 2]) })),
        })),
      })),
      ...this.#maybe(0.4, () => ({ extra: this.#pick<JsonObject>([{ a: 1 }, { a: { b: 1 } }, { l: [1, 2] }, {}]) })),
      ...this.#maybe(0.4, () => ({ labels: this.#labels(['a', 'b']) })),
      ...this.#maybe(0.3, () => ({ mode: this.#pick(['A', 'B']) })),
      ...this.#maybe(0.2, () => ({ port: this.#pick<unknown>([1, 'x']) })),
    };
  }

  /** Patches delete with null. */
  #withNulls(value: unknown): unknown {
    if (this.chance(0.15)) return null;
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.#withNulls(member)]));
  }
}

export interface Kind {
  readonly path: string;
  readonly type: { readonly apiVersion: string; readonly kind: string };
}

export const DEPLOYMENT: Kind = {
  path: '/apis/apps/v1/namespaces/default/deployments',
  type: { apiVersion: 'apps/v1', kind: 'Deployment' },
};
export const WIDGET: Kind = {
  path: '/apis/example.com/v1/namespaces/default/widgets',
  type: { apiVersion: 'example.com/v1', kind: 'Widget' },
};

/** Conversion of custom resources by the webhook that their definition names. */
import { createHash } from 'node:crypto';
import type { CustomResourceConversion } from '../../api/generated/apiextensions-v1.ts';
import { deepClone, isObject } from '../../machinery/values/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiObject } from '../exchange/object.ts';
import { failure } from '../exchange/status.ts';
import { apiVersion } from '../registry/resource.ts';
import { ConversionNeeded } from '../stored/converting.ts';
import { type WebhookCaller, WebhookCallError } from '../webhook-call/call.ts';

const TIMEOUT_SECONDS = 30;
/** Conversions that are remembered, so that a step which waited for one finds it; the oldest go first. */
const REMEMBERED = 1024;
const REVIEW_VERSION = 'v1';

interface Review {
  readonly response?: {
    readonly uid?: string;
    readonly result?: { readonly status?: string; readonly message?: string };
    readonly convertedObjects?: readonly unknown[];
  };
}

export class ConversionWebhook {
  readonly #caller: WebhookCaller;
  readonly #context: Pick<ServerContext, 'newUid'>;
  readonly #webhook: NonNullable<CustomResourceConversion['webhook']>;
  readonly #group: string;
  readonly #kind: string;
  readonly #known = new Map<string, ApiObject>();

  constructor(
    { group, kind }: { readonly group: string; readonly kind: string },
    webhook: NonNullable<CustomResourceConversion['webhook']>,
    { caller, context }: { readonly caller: WebhookCaller; readonly context: Pick<ServerContext, 'newUid'> },
  ) {
    this.#group = group;
    this.#kind = kind;
    this.#webhook = webhook;
    this.#caller = caller;
    this.#context = context;
  }

  /** The object in that version, a copy. Throws ConversionNeeded where the webhook has not said it yet. */
  convert(object: ApiObject, version: string): ApiObject {
    const wanted = apiVersion(this.#group, version);
    if (object.apiVersion === wanted) return object;
    const known = this.#known.get(keyOf(object, wanted));
    if (known === undefined) throw new ConversionNeeded(() => this.learn([object], version));
    return deepClone(known);
  }

  /** Asks for all of them that are in another version, in one call. */
  async learn(objects: readonly ApiObject[], version: string): Promise<void> {
    const wanted = apiVersion(this.#group, version);
    const asked = objects.filter((object) => object.apiVersion !== wanted && !this.#known.has(keyOf(object, wanted)));
    const [first] = asked;
    if (first === undefined) return;
    const answer = await this.#ask(asked, wanted, first.apiVersion ?? '');
    asked.forEach((object, index) => {
      const converted = this.#checked(object, answer[index], { wanted, index });
      this.#remember(keyOf(object, wanted), converted);
    });
  }

  async #ask(objects: readonly ApiObject[], wanted: string, given: string): Promise<readonly unknown[]> {
    const versions = this.#webhook.conversionReviewVersions;
    if (!versions.includes(REVIEW_VERSION)) {
      throw this.#failed(given, `it understands ConversionReview ${versions.join(', ')}; only v1 is sent`);
    }
    const uid = this.#context.newUid();
    const review = {
      kind: 'ConversionReview',
      apiVersion: `apiextensions.k8s.io/${REVIEW_VERSION}`,
      request: { uid, desiredAPIVersion: wanted, objects },
    };
    let answer: Review;
    try {
      answer = (await this.#caller.post(this.#webhook.clientConfig ?? {}, TIMEOUT_SECONDS, review)) as Review;
    } catch (error) {
      if (error instanceof WebhookCallError) throw this.#failed(given, error.message);
      throw error;
    }
    const response = isObject(answer) ? (answer as Review).response : undefined;
    if (response?.uid !== uid) {
      throw this.#failed(given, `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response?.uid)}`);
    }
    const { status, message } = response.result ?? {};
    if (status !== 'Success') {
      const why =
        status === 'Failure'
          ? (message ?? 'no reason was given')
          : `status must be set to either "Success" or "Failure"`;
      throw this.#failed(given, why);
    }
    const converted = response.convertedObjects ?? [];
    if (converted.length !== objects.length) {
      throw this.#failed(given, `webhook returned ${converted.length} objects, expected ${objects.length}`);
    }
    return converted;
  }

  /** A webhook may change everything but who the object is: of its metadata, labels and annotations only. */
  #checked(
    object: ApiObject,
    converted: unknown,
    { wanted, index }: { readonly wanted: string; readonly index: number },
  ): ApiObject {
    const given = object.apiVersion ?? '';
    if (!isObject(converted)) throw this.#failed(given, `object at index ${index} is not an object`);
    const { apiVersion: version, kind, metadata } = converted as ApiObject;
    if (version !== wanted) {
      const got = JSON.stringify(version);
      throw this.#failed(
        given,
        `returned invalid converted object at index ${index}: invalid groupVersion (expected ${wanted}, received ${got})`,
      );
    }
    if (kind !== object.kind) {
      throw this.#failed(
        given,
        `returned invalid converted object at index ${index}: invalid kind (expected ${object.kind}, received ${kind})`,
      );
    }
    if (!isObject(metadata)) throw this.#failed(given, `object at index ${index} has no metadata`);
    for (const field of ['name', 'namespace', 'uid'] as const) {
      if (metadata[field] !== object.metadata[field]) {
        throw this.#failed(given, `returned invalid metadata at index ${index}: must have the same ${field}`);
      }
    }
    const { labels, annotations } = metadata as ApiObject['metadata'];
    const { labels: _labels, annotations: _annotations, ...rest } = object.metadata;
    return {
      ...(converted as ApiObject),
      metadata: { ...rest, ...(labels && { labels }), ...(annotations && { annotations }) },
    };
  }

  #remember(key: string, converted: ApiObject): void {
    this.#known.set(key, converted);
    if (this.#known.size <= REMEMBERED) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }

  #failed(given: string, why: string): Error {
    return failure(500, '', `conversion webhook for ${given}, Kind=${this.#kind} failed: ${why}`);
  }
}

function keyOf(object: ApiObject, wanted: string): string {
  return createHash('sha256').update(wanted).update('\0').update(JSON.stringify(object)).digest('base64');
}

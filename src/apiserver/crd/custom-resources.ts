/**
 * Keeps the registry in step with the stored custom resource definitions: accepts their names, serves their objects,
 * and clears the objects away before a deleted definition goes.
 */
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import type { StoreEvent, Transaction } from '../../storage/index.ts';
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiObject } from '../exchange/object.ts';
import { objectKey, type Resource } from '../registry/resource.ts';
import { ApiError } from '../exchange/status.ts';
import { deleteInTransaction } from '../stored/deletion.ts';
import { putObject, removeObject } from '../stored/encoding.ts';
import { acceptNames, mergeConditions, type TakenNames, withReplacement } from './names.ts';
import { WebhookCaller } from '../webhook-call/call.ts';
import { ConversionWebhook } from './conversion-webhook.ts';
import { customResource } from './resource.ts';

export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';
const GROUP = 'apiextensions.k8s.io';
const PLURAL = 'customresourcedefinitions';

interface Served {
  definition: CustomResourceDefinition;
  resource: Resource | undefined;
  /** The kind of ours that the resource has taken the place of. */
  replaced?: Resource | undefined;
  /** What the resource was made of, so that a change of conditions alone does not make it anew. */
  madeOf?: string;
  /** Ends the watch of the objects that still hold a deleted definition. */
  stopSweeping?: () => void;
}

export class CustomResources {
  readonly #context: ServerContext;
  readonly #definitions: Resource;
  readonly #served = new Map<string, Served>();
  readonly #stop: () => void;
  readonly #caller: WebhookCaller;

  constructor(context: ServerContext) {
    this.#context = context;
    this.#caller = new WebhookCaller(context, context.clock);
    const resource = context.registry.byPlural(GROUP, PLURAL);
    if (resource === undefined)
      throw new Error('Cannot serve custom resources: the kind of their definitions is not served');
    this.#definitions = resource;
    const { store } = context;
    const revision = store.revision;
    for (const entry of store.range(resource.prefix)) this.#update(asDefinition(context.objects.read(entry)));
    this.#stop = store.watch(resource.prefix, revision, (events) => this.#apply(events));
  }

  stop(): void {
    this.#stop();
    this.#caller.stop();
    for (const { stopSweeping } of this.#served.values()) stopSweeping?.();
  }

  #apply(events: readonly StoreEvent[]): void {
    for (const { type, key, entry } of events) {
      if (type === 'put' && entry !== undefined) this.#update(asDefinition(this.#context.objects.read(entry)));
      else this.#remove(key.slice(this.#definitions.prefix.length));
    }
  }

  #remove(name: string): void {
    const served = this.#served.get(name);
    if (served === undefined) return;
    this.#served.delete(name);
    served.stopSweeping?.();
    this.#withdraw(served);
    // Names that were taken may be free now.
    for (const { definition, resource } of this.#served.values()) if (resource === undefined) this.#update(definition);
  }

  #update(definition: CustomResourceDefinition): void {
    const name = definition.metadata.name ?? '';
    const served = this.#served.get(name) ?? { definition, resource: undefined };
    served.definition = definition;
    this.#served.set(name, served);
    if (definition.metadata.deletionTimestamp) {
      this.#serve(served);
      this.#sweep(served);
      return;
    }
    const now = this.#context.clock.now();
    const accepted = acceptNames(definition, this.#takenBy(served), now);
    const status = withReplacement(accepted, this.#ownOf(served), now);
    if (deepEqual(status, definition.status)) this.#serve(served);
    else this.#writeStatus(definition, status);
  }

  #serve(served: Served): void {
    const { registry } = this.#context;
    const { spec, status, metadata } = served.definition;
    const madeOf = JSON.stringify([
      isEstablished(served.definition),
      spec,
      status?.acceptedNames,
      Boolean(metadata.deletionTimestamp),
    ]);
    if (served.madeOf === madeOf) return;
    served.madeOf = madeOf;
    const resource = isEstablished(served.definition) ? this.#resourceOf(served.definition) : undefined;
    if (resource === undefined) {
      this.#withdraw(served);
      return;
    }
    const own = served.resource === undefined ? this.#ownOf(served) : undefined;
    const old = served.resource ?? own;
    if (old === undefined) registry.add(resource);
    else registry.replace(old, resource);
    served.resource = resource;
    served.replaced ??= own;
  }

  /** What was ours before is ours again. */
  #withdraw(served: Served): void {
    const { registry } = this.#context;
    const { replaced, resource } = served;
    if (resource === undefined) return;
    if (replaced === undefined) registry.remove(resource);
    else registry.replace(resource, replaced);
    served.resource = undefined;
    served.replaced = undefined;
  }

  /** The kind of ours whose place the definition takes. */
  #ownOf({ definition: { spec }, replaced }: Served): Resource | undefined {
    if (replaced !== undefined || spec === undefined) return replaced;
    const found = this.#context.registry.byPlural(spec.group, spec.names.plural);
    return found?.yields === undefined ? undefined : found;
  }

  #resourceOf(definition: CustomResourceDefinition): Resource | undefined {
    const { group = '', names, conversion } = definition.spec ?? {};
    const { webhook } = conversion ?? {};
    if (conversion?.strategy !== 'Webhook' || webhook === undefined) return customResource(definition);
    const tools = { caller: this.#caller, context: this.#context };
    return customResource(definition, new ConversionWebhook({ group, kind: names?.kind ?? '' }, webhook, tools));
  }

  #takenBy(served: Served): TakenNames {
    const { resource: own, definition } = served;
    const giving = this.#ownOf(served);
    const resources = new Set<string>();
    const kinds = new Set<string>();
    for (const resource of this.#context.registry.resources()) {
      if (resource === own || resource === giving || resource.group !== definition.spec?.group) continue;
      for (const name of [resource.plural, resource.singular, ...resource.shortNames]) resources.add(name);
      kinds.add(resource.kind).add(resource.listKind);
    }
    return { resources, kinds };
  }

  #writeStatus(seen: CustomResourceDefinition, status: NonNullable<CustomResourceDefinition['status']>): void {
    this.#change(seen, (object) => ({ ...object, status }));
  }

  /** Writes a change if the definition is still the one that was seen; a newer one comes by the watch. */
  #change(seen: CustomResourceDefinition, compute: (object: ApiObject) => ApiObject | undefined): void {
    const context = this.#context;
    const name = seen.metadata.name ?? '';
    const key = objectKey(this.#definitions, undefined, name);
    context.store
      .transact((transaction) => {
        const entry = transaction.get(key);
        if (entry === undefined) return;
        const current = context.objects.read(entry);
        if (current.metadata.resourceVersion !== seen.metadata.resourceVersion) return;
        const object = compute({ ...current, metadata: { ...current.metadata } });
        if (object !== undefined) this.#put(transaction, key, object);
      })
      .catch((error: unknown) => context.log.error({ err: error, name }, 'cannot write custom resource definition'));
  }

  #put(transaction: Transaction, key: string, object: ApiObject): void {
    const resource = this.#definitions;
    const gone = object.metadata.deletionTimestamp && (object.metadata.finalizers ?? []).length === 0;
    if (gone) removeObject(this.#context, transaction, { resource, key, object });
    else putObject(this.#context, transaction, { resource, key, object });
  }

  /** Deletes every object, waits for those that finalizers hold, then lets the definition go. */
  #sweep(served: Served): void {
    const { definition } = served;
    if (!definition.metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    const resource = this.#resourceOf(definition);
    const { store } = this.#context;
    if (resource === undefined || store.count(resource.prefix) === 0) {
      this.#release(served);
      return;
    }
    served.stopSweeping ??= store.watch(resource.prefix, store.revision, () => {
      if (store.count(resource.prefix) === 0) this.#release(served);
    });
    for (const { key } of store.range(resource.prefix)) this.#deleteInstance(resource, key);
  }

  #deleteInstance(resource: Resource, key: string): void {
    const context = this.#context;
    const name = key.slice(key.lastIndexOf('/') + 1);
    context.store
      .transact((transaction) => {
        deleteInTransaction(context, transaction, { target: { resource, key, name }, options: {} });
      })
      .catch((error: unknown) => {
        if (!(error instanceof ApiError)) context.log.error({ err: error, key }, 'cannot delete custom resource');
      });
  }

  #release({ definition }: Served): void {
    const conditions = mergeConditions(
      definition.status?.conditions ?? [],
      [
        {
          type: 'Terminating',
          status: 'False',
          reason: 'InstanceDeletionCompleted',
          message: 'removed all instances',
        },
      ],
      this.#context.clock.now(),
    );
    this.#change(definition, (object) => {
      const left = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
      const { finalizers: _finalizers, ...metadata } = object.metadata;
      return {
        ...object,
        metadata: left.length === 0 ? metadata : { ...metadata, finalizers: left },
        status: { ...(object['status'] as object), conditions },
      };
    });
  }
}

/** Marks a definition that is about to be deleted, so that its objects go first. */
export function cleanupBeforeDeletion(context: ServerContext): AdmissionPlugin {
  return {
    name: 'CustomResourceCleanup',
    handles: ({ resource, operation, subresource }) =>
      resource.group === GROUP && resource.plural === PLURAL && operation === 'DELETE' && subresource === undefined,
    inTransaction({ resource, oldObject }, transaction) {
      const key = objectKey(resource, undefined, oldObject?.metadata.name ?? '');
      const entry = transaction.get(key);
      if (entry === undefined) return;
      const object = context.objects.read(entry);
      const finalizers = object.metadata.finalizers ?? [];
      if (object.metadata.deletionTimestamp || finalizers.includes(CLEANUP_FINALIZER)) return;
      const status = asDefinition(object).status ?? {};
      const conditions = mergeConditions(
        status.conditions ?? [],
        [
          {
            type: 'Terminating',
            status: 'True',
            reason: 'InstanceDeletionInProgress',
            message: 'CustomResource deletion is in progress',
          },
        ],
        context.clock.now(),
      );
      const marked = {
        ...object,
        metadata: { ...object.metadata, finalizers: [...finalizers, CLEANUP_FINALIZER] },
        status: { ...status, conditions },
      };
      putObject(context, transaction, { resource, key, object: marked });
    },
  };
}

const asDefinition = (object: ApiObject): CustomResourceDefinition => object as CustomResourceDefinition;

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return (
    status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ?? false
  );
}

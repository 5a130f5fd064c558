/**
 * Keeps the registry in step with the stored custom resource definitions: accepts their names, serves their objects,
 * and clears the objects away before a deleted definition goes.
 */
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import type { StoreEvent, Transaction } from '../../storage/index.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { Kernel } from '../kernel.ts';
import type { ApiObject } from '../object.ts';
import { objectKey, type ResourceRow } from '../registry/row.ts';
import { ApiError } from '../status.ts';
import { deleteInTransaction } from '../stored/deletion.ts';
import { putObject, removeObject } from '../stored/encoding.ts';
import { acceptNames, mergeConditions, type TakenNames } from './names.ts';
import { customRow } from './row.ts';

export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';
const GROUP = 'apiextensions.k8s.io';
const PLURAL = 'customresourcedefinitions';

interface Served {
  definition: CustomResourceDefinition;
  row: ResourceRow | undefined;
  /** What the row was made of, so that a change of conditions alone does not make it anew. */
  madeOf?: string;
  /** Ends the watch of the objects that still hold a deleted definition. */
  stopSweeping?: () => void;
}

export class CustomResources {
  readonly #kernel: Kernel;
  readonly #definitions: ResourceRow;
  readonly #served = new Map<string, Served>();
  readonly #stop: () => void;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    const row = kernel.registry.byPlural(GROUP, PLURAL);
    if (row === undefined)
      throw new Error('Cannot serve custom resources: the kind of their definitions is not served');
    this.#definitions = row;
    const { store } = kernel;
    const revision = store.revision;
    for (const entry of store.range(row.prefix)) this.#update(asDefinition(kernel.objects.read(entry)));
    this.#stop = store.watch(row.prefix, revision, (events) => this.#apply(events));
  }

  stop(): void {
    this.#stop();
    for (const { stopSweeping } of this.#served.values()) stopSweeping?.();
  }

  #apply(events: readonly StoreEvent[]): void {
    for (const { type, key, entry } of events) {
      if (type === 'put' && entry !== undefined) this.#update(asDefinition(this.#kernel.objects.read(entry)));
      else this.#remove(key.slice(this.#definitions.prefix.length));
    }
  }

  #remove(name: string): void {
    const served = this.#served.get(name);
    if (served === undefined) return;
    this.#served.delete(name);
    served.stopSweeping?.();
    if (served.row !== undefined) this.#kernel.registry.remove(served.row);
    // Names that were taken may be free now.
    for (const { definition, row } of this.#served.values()) if (row === undefined) this.#update(definition);
  }

  #update(definition: CustomResourceDefinition): void {
    const name = definition.metadata.name ?? '';
    const served = this.#served.get(name) ?? { definition, row: undefined };
    served.definition = definition;
    this.#served.set(name, served);
    if (definition.metadata.deletionTimestamp) {
      this.#serve(served);
      this.#sweep(served);
      return;
    }
    const status = acceptNames(definition, this.#takenBy(served), this.#kernel.clock.now());
    if (deepEqual(status, definition.status)) this.#serve(served);
    else this.#writeStatus(definition, status);
  }

  #serve(served: Served): void {
    const { registry } = this.#kernel;
    const { spec, status, metadata } = served.definition;
    const madeOf = JSON.stringify([
      isEstablished(served.definition),
      spec,
      status?.acceptedNames,
      Boolean(metadata.deletionTimestamp),
    ]);
    if (served.madeOf === madeOf) return;
    served.madeOf = madeOf;
    const row = isEstablished(served.definition) ? customRow(served.definition) : undefined;
    if (served.row !== undefined && row !== undefined) registry.replace(served.row, row);
    else if (row !== undefined) registry.add(row);
    else if (served.row !== undefined) registry.remove(served.row);
    served.row = row;
  }

  #takenBy({ row: own, definition }: Served): TakenNames {
    const resources = new Set<string>();
    const kinds = new Set<string>();
    for (const row of this.#kernel.registry.rows()) {
      if (row === own || row.group !== definition.spec?.group) continue;
      for (const name of [row.plural, row.singular, ...row.shortNames]) resources.add(name);
      kinds.add(row.kind).add(row.listKind);
    }
    return { resources, kinds };
  }

  #writeStatus(seen: CustomResourceDefinition, status: NonNullable<CustomResourceDefinition['status']>): void {
    this.#change(seen, (object) => ({ ...object, status }));
  }

  /** Writes a change if the definition is still the one that was seen; a newer one comes by the watch. */
  #change(seen: CustomResourceDefinition, compute: (object: ApiObject) => ApiObject | undefined): void {
    const kernel = this.#kernel;
    const name = seen.metadata.name ?? '';
    const key = objectKey(this.#definitions, undefined, name);
    kernel.store
      .transact((transaction) => {
        const entry = transaction.get(key);
        if (entry === undefined) return;
        const current = kernel.objects.read(entry);
        if (current.metadata.resourceVersion !== seen.metadata.resourceVersion) return;
        const object = compute({ ...current, metadata: { ...current.metadata } });
        if (object !== undefined) this.#put(transaction, key, object);
      })
      .catch((error: unknown) => kernel.log.error({ err: error, name }, 'cannot write custom resource definition'));
  }

  #put(transaction: Transaction, key: string, object: ApiObject): void {
    const row = this.#definitions;
    const gone = object.metadata.deletionTimestamp && (object.metadata.finalizers ?? []).length === 0;
    if (gone) removeObject(this.#kernel, transaction, { row, key, object });
    else putObject(this.#kernel, transaction, { row, key, object });
  }

  /** Deletes every object, waits for those that finalizers hold, then lets the definition go. */
  #sweep(served: Served): void {
    const { definition } = served;
    if (!definition.metadata.finalizers?.includes(CLEANUP_FINALIZER)) return;
    const row = customRow(definition);
    const { store } = this.#kernel;
    if (row === undefined || store.count(row.prefix) === 0) {
      this.#release(served);
      return;
    }
    served.stopSweeping ??= store.watch(row.prefix, store.revision, () => {
      if (store.count(row.prefix) === 0) this.#release(served);
    });
    for (const { key } of store.range(row.prefix)) this.#deleteInstance(row, key);
  }

  #deleteInstance(row: ResourceRow, key: string): void {
    const kernel = this.#kernel;
    const name = key.slice(key.lastIndexOf('/') + 1);
    kernel.store
      .transact((transaction) => {
        deleteInTransaction(kernel, transaction, { target: { row, key, name }, options: {} });
      })
      .catch((error: unknown) => {
        if (!(error instanceof ApiError)) kernel.log.error({ err: error, key }, 'cannot delete custom resource');
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
      this.#kernel.clock.now(),
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
export function cleanupBeforeDeletion(kernel: Kernel): AdmissionPlugin {
  return {
    name: 'CustomResourceCleanup',
    handles: ({ row, operation, subresource }) =>
      row.group === GROUP && row.plural === PLURAL && operation === 'DELETE' && subresource === undefined,
    inTransaction({ row, oldObject }, transaction) {
      const key = objectKey(row, undefined, oldObject?.metadata.name ?? '');
      const entry = transaction.get(key);
      if (entry === undefined) return;
      const object = kernel.objects.read(entry);
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
        kernel.clock.now(),
      );
      const marked = {
        ...object,
        metadata: { ...object.metadata, finalizers: [...finalizers, CLEANUP_FINALIZER] },
        status: { ...status, conditions },
      };
      putObject(kernel, transaction, { row, key, object: marked });
    },
  };
}

const asDefinition = (object: ApiObject): CustomResourceDefinition => object as unknown as CustomResourceDefinition;

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return (
    status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ?? false
  );
}

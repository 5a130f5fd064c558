/** What the server must know of a kind beyond its names. Every part is optional; absent means the common behaviour. */
import type { Issue } from '../../machinery/values/index.ts';
import type { ApiObject, ObjectMeta } from '../exchange/object.ts';

interface KindObject {
  metadata: ObjectMeta;
}

export interface StrategyContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly random: () => number;
}

/** A value of a Table cell; a `Date`-less age is computed from `time` when the table is written. */
export type TableCell = string | number | boolean | null;

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** Above zero: only with `-o wide`. */
  readonly priority?: number;
}

export interface RowConditions {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export type FindStored = (
  group: string,
  plural: string,
  key: { namespace?: string | undefined; name: string },
) => ApiObject | undefined;

export interface TableLayout<T extends KindObject = ApiObject> {
  readonly columns: readonly Column[];
  /** `find` reads another stored object, for what is told of this one elsewhere. */
  cells(object: T, now: number, find: FindStored): readonly TableCell[];
  conditions?(object: T): readonly RowConditions[] | undefined;
}

/** `T`: the kind, as its objects are once they are decoded. */
export interface Strategy<T extends KindObject = ApiObject> {
  /** Fields of `spec` that only the stored form has: nobody is told of them. */
  readonly storedOnly?: readonly string[];

  /** Fills absent fields in place. Runs before admission, after it, and on every read of a stored object that asks for it. */
  defaults?(object: T): void;
  /** Clears or sets what a client may not decide at create: status, server-owned fields. */
  prepareForCreate?(object: T, context: StrategyContext): void;
  /** Same for updates through the main resource; status has already been copied from `old`. */
  prepareForUpdate?(object: T, old: T, context: StrategyContext): void;
  /** Same for updates through `/status`; everything but status and metadata has already been copied from `old`. */
  prepareForStatusUpdate?(object: T, old: T, context: StrategyContext): void;

  /** `version` is the one the request is written in; few kinds have rules of a version. */
  validate?(object: T, version: string): Issue[];
  validateUpdate?(object: T, old: T, version: string): Issue[];
  validateStatusUpdate?(object: T, old: T, version: string, context: StrategyContext): Issue[];
  /** `validateUpdate` checks the whole object itself, so that what was wrong before may stay; `validate` is for creates. */
  readonly ratchets?: boolean;
  /** Reasons a name is refused; RFC 1123 subdomain when absent. */
  checkName?(name: string): string[];
  /** Texts sent to the client as warnings on create and update. */
  warnings?(object: T, old: T | undefined): string[];

  /** Selectable fields beyond `metadata.name` and `metadata.namespace`, all of them, absent values as ''. */
  fields?(object: T): Readonly<Record<string, string>>;
  /** Other spellings of selectable fields in some version, such as `regarding.name` for `involvedObject.name`. */
  fieldAliases?: Readonly<Record<string, string>>;
  readonly table?: TableLayout<T>;

  /** `spec`: counts changes of spec. A function decides itself. Absent: the kind has no generation. */
  readonly generation?: 'spec' | ((object: T, old: T) => boolean);
  /** False: a PUT must carry a resourceVersion. */
  readonly unconditionalUpdate?: boolean;
  /** True: PUT on a missing object creates it. */
  readonly createOnUpdate?: boolean;
  /** True: a delete answers with the object even when it is gone. */
  readonly deleteReturnsObject?: boolean;
  readonly garbageCollection?: 'Background' | 'Orphan' | 'Unsupported';
  /** Seconds to wait before removal; undefined for kinds without graceful deletion. */
  gracePeriod?(object: T, asked: number | undefined): number;
  /** More finalizers than `metadata.finalizers` that hold an object (those of Namespace are in its spec). */
  specFinalizers?(object: T): readonly string[];
  /** Called when deletion first marks the object. */
  markDeleting?(object: T): void;
  /** Seconds after which an object is removed by itself. */
  readonly timeToLiveSeconds?: number;
  /** The main resource writes status as well (kinds without a status subresource). */
  readonly writesStatus?: boolean;
}

/** The strategy of one kind, for the registry, which has all kinds: each only ever meets objects of its own. */
export function strategyOf<T extends KindObject>(strategy: Strategy<T>): Strategy {
  return strategy as unknown as Strategy;
}

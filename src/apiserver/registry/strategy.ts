/** What the server must know of a kind beyond its names. Every part is optional; absent means the common behaviour. */
import type { Issue } from '../../machinery/values/index.ts';
import type { ApiObject } from '../object.ts';

export interface StrategyContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly random: () => number;
}

/** A value of a Table cell; a `Date`-less age is computed from `time` when the table is written. */
export type Cell = string | number | boolean | null;

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

export interface TableLayout {
  readonly columns: readonly Column[];
  /** `find` reads another stored object, for what is told of this one elsewhere. */
  cells(object: ApiObject, now: number, find: FindStored): readonly Cell[];
  conditions?(object: ApiObject): readonly RowConditions[] | undefined;
}

export interface Strategy {
  /** Fields of `spec` that only the stored form has: nobody is told of them. */
  readonly storedOnly?: readonly string[];

  /** Fills absent fields in place. Runs before admission, after it, and on every read of a stored object that asks for it. */
  defaults?(object: ApiObject): void;
  /** Clears or sets what a client may not decide at create: status, server-owned fields. */
  prepareForCreate?(object: ApiObject, context: StrategyContext): void;
  /** Same for updates through the main resource; status has already been copied from `old`. */
  prepareForUpdate?(object: ApiObject, old: ApiObject, context: StrategyContext): void;
  /** Same for updates through `/status`; everything but status and metadata has already been copied from `old`. */
  prepareForStatusUpdate?(object: ApiObject, old: ApiObject, context: StrategyContext): void;

  /**
   * `version` is the one the request is written in; few kinds have rules of a version. `replica` is an object of the
   * kind that was checked when it was made: parts that are the very same are sound.
   */
  validate?(object: ApiObject, version: string, replica?: ApiObject): Issue[];
  validateUpdate?(object: ApiObject, old: ApiObject, version: string): Issue[];
  validateStatusUpdate?(object: ApiObject, old: ApiObject, version: string): Issue[];
  /** `validateUpdate` checks the whole object itself, so that what was wrong before may stay; `validate` is for creates. */
  readonly ratchets?: boolean;
  /** Reasons a name is refused; RFC 1123 subdomain when absent. */
  checkName?(name: string): string[];
  /** Texts sent to the client as warnings on create and update. */
  warnings?(object: ApiObject, old: ApiObject | undefined): string[];

  /** Selectable fields beyond `metadata.name` and `metadata.namespace`, all of them, absent values as ''. */
  fields?(object: ApiObject): Readonly<Record<string, string>>;
  /** Other spellings of selectable fields in some version, such as `regarding.name` for `involvedObject.name`. */
  fieldAliases?: Readonly<Record<string, string>>;
  readonly table?: TableLayout;

  /** `spec`: counts changes of spec. A function decides itself. Absent: the kind has no generation. */
  readonly generation?: 'spec' | ((object: ApiObject, old: ApiObject) => boolean);
  /** False: a PUT must carry a resourceVersion. */
  readonly unconditionalUpdate?: boolean;
  /** True: PUT on a missing object creates it. */
  readonly createOnUpdate?: boolean;
  /** True: a delete answers with the object even when it is gone. */
  readonly deleteReturnsObject?: boolean;
  readonly garbageCollection?: 'Background' | 'Orphan' | 'Unsupported';
  /** Seconds to wait before removal; undefined for kinds without graceful deletion. */
  gracePeriod?(object: ApiObject, asked: number | undefined): number;
  /** More finalizers than `metadata.finalizers` that hold an object (those of Namespace are in its spec). */
  specFinalizers?(object: ApiObject): readonly string[];
  /** Called when deletion first marks the object. */
  markDeleting?(object: ApiObject): void;
  /** Seconds after which an object is removed by itself. */
  readonly timeToLiveSeconds?: number;
  /** The main resource writes status as well (kinds without a status subresource). */
  readonly writesStatus?: boolean;
}

/** Runs the admission plugins around a write. */
import type { AdmissionAttributes, AdmissionOperation } from '../admission.ts';
import type { Call } from '../call.ts';
import type { ApiObject } from '../object.ts';
import type { Transaction } from '../../storage/index.ts';

export interface AdmissionSubject {
  readonly operation: AdmissionOperation;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  /** Kind of `object` when it is not the row's. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly dryRun?: boolean;
}

export function attributesOf(call: Call, subject: AdmissionSubject): AdmissionAttributes {
  return {
    operation: subject.operation,
    row: call.row,
    version: call.version.name,
    subresource: call.info.subresource,
    kind: subject.kind ?? { group: call.row.group, version: call.version.name, kind: call.row.kind },
    namespace: subject.namespace,
    name: subject.name,
    object: subject.object,
    oldObject: subject.oldObject,
    options: subject.options,
    user: call.user,
    dryRun: subject.dryRun ?? call.options.dryRun,
    warnings: call.warnings,
  };
}

/** Mutating plugins in order. Awaits only what is asynchronous, so that the common write takes no extra turns. */
export function admit(call: Call, attributes: AdmissionAttributes): void | Promise<void> {
  return inOrder(call, attributes, 'admit');
}

export function validateAdmission(call: Call, attributes: AdmissionAttributes): void | Promise<void> {
  return inOrder(call, attributes, 'validate');
}

export function admitInTransaction(call: Call, attributes: AdmissionAttributes, transaction: Transaction): void {
  for (const plugin of call.kernel.admission) {
    if (plugin.inTransaction !== undefined && plugin.handles(attributes)) plugin.inTransaction(attributes, transaction);
  }
}

function inOrder(
  call: Call,
  attributes: AdmissionAttributes,
  phase: 'admit' | 'validate',
  from = 0,
): void | Promise<void> {
  const plugins = call.kernel.admission;
  for (let at = from; at < plugins.length; at += 1) {
    const plugin = plugins[at] as (typeof plugins)[number];
    if (plugin[phase] === undefined || !plugin.handles(attributes)) continue;
    const pending = plugin[phase](attributes);
    if (pending !== undefined) return pending.then(() => inOrder(call, attributes, phase, at + 1));
  }
}

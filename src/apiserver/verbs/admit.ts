/** Runs the admission plugins around a write. */
import type { AdmissionAttributes, AdmissionOperation, AdmissionPlugin } from '../context/admission-plugin.ts';
import type { Call } from '../context/call.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Transaction } from '../../storage/index.ts';

export interface AdmissionSubject {
  readonly operation: AdmissionOperation;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  /** Kind of `object` when it is not the resource's. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly dryRun?: boolean;
}

export function attributesOf(call: Call, subject: AdmissionSubject): AdmissionAttributes {
  return {
    operation: subject.operation,
    resource: call.resource,
    version: call.version.name,
    subresource: call.info.subresource,
    kind: subject.kind ?? { group: call.resource.group, version: call.version.name, kind: call.resource.kind },
    namespace: subject.namespace,
    name: subject.name,
    object: subject.object,
    oldObject: subject.oldObject,
    options: subject.options,
    user: call.user,
    dryRun: subject.dryRun ?? call.options.dryRun,
    warnings: call.warnings,
    timing: call.timing,
  };
}

/** Mutating plugins in order. Awaits only what is asynchronous, so that the common write takes no extra turns. */
export function admit(call: Call, attributes: AdmissionAttributes): void | Promise<void> {
  return measured(call, attributes, 'admit');
}

export function validateAdmission(call: Call, attributes: AdmissionAttributes): void | Promise<void> {
  return measured(call, attributes, 'validate');
}

export function admitInTransaction(call: Call, attributes: AdmissionAttributes, transaction: Transaction): void {
  for (const plugin of pluginsOf(call, 'inTransaction')) {
    if (plugin.handles(attributes)) plugin.inTransaction?.(attributes, transaction);
  }
}

type Phase = 'admit' | 'validate' | 'inTransaction';
type PluginsByPhase = Readonly<Record<Phase, readonly AdmissionPlugin[]>>;

/** Each plugin does its work in one phase or two, and every write goes through all three. */
const byPhase = new WeakMap<readonly AdmissionPlugin[], PluginsByPhase>();

function pluginsOf({ context: { admission } }: Call, phase: Phase): readonly AdmissionPlugin[] {
  let sorted = byPhase.get(admission);
  if (sorted === undefined) {
    const having = (one: Phase) => admission.filter((plugin) => plugin[one] !== undefined);
    sorted = { admit: having('admit'), validate: having('validate'), inTransaction: having('inTransaction') };
    byPhase.set(admission, sorted);
  }
  return sorted[phase];
}

function measured(call: Call, attributes: AdmissionAttributes, phase: 'admit' | 'validate'): void | Promise<void> {
  const { admission } = call.context.meters;
  const startedMs = admission.now();
  const done = (rejected: boolean): void => admission.step(phase, attributes.operation, startedMs, rejected);
  let pending: void | Promise<void>;
  try {
    pending = inOrder(call, attributes, phase);
  } catch (error) {
    done(true);
    throw error;
  }
  if (pending === undefined) {
    done(false);
    return undefined;
  }
  return pending.then(
    () => done(false),
    (error: unknown) => {
      done(true);
      throw error;
    },
  );
}

function inOrder(
  call: Call,
  attributes: AdmissionAttributes,
  phase: 'admit' | 'validate',
  from = 0,
): void | Promise<void> {
  const plugins = pluginsOf(call, phase);
  for (let at = from; at < plugins.length; at += 1) {
    const plugin = plugins[at] as AdmissionPlugin;
    if (!plugin.handles(attributes)) continue;
    const pending = plugin[phase]?.(attributes);
    if (pending !== undefined) return pending.then(() => inOrder(call, attributes, phase, at + 1));
  }
}

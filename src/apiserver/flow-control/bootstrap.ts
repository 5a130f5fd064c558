/**
 * Brings the default FlowSchemas and PriorityLevelConfigurations into the store, as kube-apiserver does when it starts and
 * every minute: what is missing is made; the spec of what is still marked for it, or mandatory, is brought back.
 */
import {
  AUTO_UPDATE_SPEC,
  defaultFlowSchemas,
  defaultPriorityLevels,
  FLOW_CONTROL_GROUP,
  MANDATORY,
} from '../../api/flow-control.ts';
import type { FlowSchema, PriorityLevelConfiguration } from '../../api/generated/flowcontrol-v1.ts';
import { builtinType } from '../../api/registry.ts';
import type { ResourceType } from '../../api/resource.ts';
import { type Client, isAlreadyExists, isConflict } from '../../machinery/runtime/index.ts';
import { semanticEqual } from '../../machinery/values/index.ts';

type Configured = FlowSchema | PriorityLevelConfiguration;

export async function bootstrapFlowControl(client: Client): Promise<void> {
  await ensureAll(client, builtinType('PriorityLevelConfiguration', FLOW_CONTROL_GROUP), defaultPriorityLevels);
  await ensureAll(client, builtinType('FlowSchema', FLOW_CONTROL_GROUP), defaultFlowSchemas);
}

async function ensureAll<T extends Configured>(
  client: Client,
  type: ResourceType,
  wanted: readonly T[],
): Promise<void> {
  const { items } = await client.list(type as ResourceType<T>, {});
  const found = new Map(items.map((item) => [item.metadata.name, item]));
  for (const object of wanted) {
    const current = found.get(object.metadata.name);
    const revised = current === undefined ? object : revise(current, object);
    try {
      if (current === undefined) await client.create(type as ResourceType<T>, object);
      else if (revised !== undefined) await client.update(type as ResourceType<T>, revised);
    } catch (error) {
      // Somebody else was first; the next look sees what they made of it.
      if (!isAlreadyExists(error) && !isConflict(error)) throw error;
    }
  }
}

/** Undefined: it is as it should be. */
function revise<T extends Configured>(current: T, wanted: T): T | undefined {
  const { annotations, generation, name = '' } = current.metadata;
  const mark = annotations?.[AUTO_UPDATE_SPEC];
  const isMarked = mark === 'true' || mark === 'false';
  // An object without the mark is ours as long as nobody has changed its spec.
  const updates = MANDATORY.has(name) || (isMarked ? mark === 'true' : generation === 1);
  const isMarkedRight = isMarked && (mark === 'true') === updates;
  // How much the exempt level lends may be set by anybody.
  const isSame = name === 'exempt' && 'type' in (wanted.spec ?? {}) ? true : semanticEqual(current.spec, wanted.spec);
  if (isMarkedRight && (!updates || isSame)) return undefined;
  const metadata = { ...current.metadata, annotations: { ...annotations, [AUTO_UPDATE_SPEC]: String(updates) } };
  return { ...current, metadata, spec: updates && !isSame ? wanted.spec : current.spec };
}

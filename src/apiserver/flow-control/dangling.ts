/** The condition of a FlowSchema that says whether its priority level exists. */
import { FLOW_CONTROL_GROUP } from '../../api/flow-control.ts';
import type { FlowSchema, FlowSchemaCondition } from '../../api/generated/flowcontrol-v1.ts';
import type { Logger } from '../../machinery/runtime/index.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { objectKey } from '../registry/resource.ts';
import { putObject } from '../stored/encoding.ts';
import type { StoredWrites } from '../stored/kind-view.ts';

const DANGLING = 'Dangling';

/** Writes the condition where it is not what it should be and the object is the one that was looked at. */
export function writeDangling(
  tools: StoredWrites & { readonly log: Logger },
  seen: FlowSchema,
  isMissing: boolean,
): void {
  const resource = tools.registry.byPlural(FLOW_CONTROL_GROUP, 'flowschemas');
  const { name, resourceVersion, uid } = seen.metadata;
  if (resource === undefined || name === undefined || uid === undefined) return;
  const before = seen.status?.conditions?.find(({ type }) => type === DANGLING);
  const wanted = conditionOf(seen, isMissing);
  const { message, reason, status } = wanted;
  if (before?.status === status && before?.reason === reason && before?.message === message) return;
  const time = before?.status === status ? before?.lastTransitionTime : undefined;
  const condition = { ...wanted, lastTransitionTime: time ?? formatTime(tools.clock.now()) };
  const key = objectKey(resource, undefined, name);
  tools.store
    .transact((transaction) => {
      const entry = transaction.get(key);
      const current = entry && tools.objects.read(entry);
      if (current === undefined || current.metadata.resourceVersion !== resourceVersion) return;
      const others = ((current as FlowSchema).status?.conditions ?? []).filter(({ type }) => type !== DANGLING);
      const object = { ...current, metadata: { ...current.metadata }, status: { conditions: [...others, condition] } };
      putObject(tools, transaction, { resource, key, object });
    })
    .catch((error: unknown) => tools.log.error({ err: error, name }, 'cannot write the status of a FlowSchema'));
}

function conditionOf({ spec }: FlowSchema, isMissing: boolean): FlowSchemaCondition {
  const referenced = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(spec?.priorityLevelConfiguration.name ?? '')}`;
  return isMissing
    ? { type: DANGLING, status: 'True', reason: 'NotFound', message: `${referenced} but there is no such object` }
    : { type: DANGLING, status: 'False', reason: 'Found', message: `${referenced} and it exists` };
}

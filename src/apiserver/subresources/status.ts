/** `/status`: writes status and leaves the rest alone; generation does not move. */
import type { Call } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Subresource } from '../registry/subresource.ts';
import { respondWithWritten } from '../verbs/create.ts';
import { get } from '../verbs/get.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';
import { patchObject } from '../verbs/patch.ts';
import { type UpdateRules, updatePart } from '../verbs/update.ts';

export function statusSubresource(kind: string): Subresource {
  return innerSubresource({ verbs: ['get', 'patch', 'update'], kind: { kind } }, run);
}

async function run(call: Call): Promise<ApiResponse> {
  switch (call.info.verb) {
    case 'get':
      return get(call);
    case 'patch': {
      const { status, written } = await patchObject(call, statusRules(call));
      return respondWithWritten(call, status, written);
    }
    default:
      return updatePart(call, statusRules(call), call.resource.strategy.unconditionalUpdate === false);
  }
}

function statusRules({ resource, version, context }: Call): UpdateRules {
  const { strategy } = resource;
  const { clock, random } = context;
  return {
    protect(object, old) {
      keepAllBut(object, old, ['metadata', 'status']);
      strategy.prepareForStatusUpdate?.(object, old, { now: clock.now(), random });
    },
    validate: (object, old) =>
      strategy.validateStatusUpdate?.(object, old, version.name, { now: clock.now(), random }) ?? [],
    bumpsGeneration: false,
  };
}

function keepAllBut(object: ApiObject, old: ApiObject, written: readonly string[]): void {
  for (const field of Object.keys(object)) {
    if (!written.includes(field) && !Object.hasOwn(old, field)) delete object[field];
  }
  for (const field of Object.keys(old)) if (!written.includes(field)) object[field] = old[field];
}

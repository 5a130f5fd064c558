/** `namespaces/finalize`: the one way to change `spec.finalizers` of a Namespace. */
import { deepClone } from '../../machinery/values/index.ts';
import type { Call } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { Subresource } from '../registry/subresource.ts';
import { readServed, toStored } from '../verbs/body.ts';
import { checkIdentity, respondWithWritten } from '../verbs/create.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';
import { copyField, updateObject } from '../verbs/update.ts';

export const finalizeSubresource: Subresource = innerSubresource(
  { verbs: ['update'], kind: { kind: 'Namespace' } },
  finalize,
);

async function finalize(call: Call): Promise<ApiResponse> {
  const given = readServed(call);
  checkIdentity(call, given);
  const written = await updateObject(call, {
    compute: (old) => toStored(call, deepClone(given), old),
    rules: { protect: (object, old) => copyField(object, old, 'status'), validate: () => [], bumpsGeneration: false },
    optionsKind: 'UpdateOptions',
  });
  return respondWithWritten(call, 200, written);
}

/** `namespaces/finalize`: the one way to change `spec.finalizers` of a Namespace. */
import type { Call } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { Subresource } from '../registry/subresource.ts';
import { innerSubresource } from '../verbs/inner-subresource.ts';
import { copyField, updatePart } from '../verbs/update.ts';

export const finalizeSubresource: Subresource = innerSubresource(
  { verbs: ['update'], kind: { kind: 'Namespace' } },
  finalize,
);

function finalize(call: Call): Promise<ApiResponse> {
  return updatePart(call, {
    protect: (object, old) => copyField(object, old, 'status'),
    validate: () => [],
    bumpsGeneration: false,
  });
}

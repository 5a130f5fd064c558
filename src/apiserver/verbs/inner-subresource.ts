/** Subresources that are a way of writing the object itself, and so share the verbs' machinery. */
import type { Call } from '../context/call.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { Subresource } from '../registry/subresource.ts';

export interface InnerSubresource extends Subresource {
  run(call: Call): Promise<ApiResponse>;
}

export function innerSubresource(
  parts: Pick<Subresource, 'verbs' | 'kind' | 'takesPath'>,
  run: (call: Call) => Promise<ApiResponse>,
): InnerSubresource {
  return { ...parts, run, handle: () => Promise.reject(new Error('An inner subresource is run, not handled')) };
}

export function isInner(subresource: Subresource): subresource is InnerSubresource {
  return 'run' in subresource;
}

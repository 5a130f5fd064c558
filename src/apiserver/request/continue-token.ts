/** The opaque token that resumes a chunked list: where to go on and at which revision. */
import { isObject } from '../../machinery/values/index.ts';
import { badRequest } from '../exchange/status.ts';

export interface ContinuePoint {
  /** -1: resume on current data, the snapshot being gone. */
  readonly revision: number;
  /** Last key of the page before, relative to the resource's prefix. */
  readonly after: string;
}

export function encodeContinue({ revision, after }: ContinuePoint): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${after}\u0000` })).toString(
    'base64url',
  );
}

export function decodeContinue(token: string): ContinuePoint {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    if (isObject(value) && value['v'] === 'meta.k8s.io/v1' && Number.isInteger(value['rv'])) {
      const start = value['start'];
      if (typeof start === 'string' && start.endsWith('\u0000')) {
        return { revision: value['rv'] as number, after: start.slice(0, -1) };
      }
    }
  } catch {
    // Falls through to the one answer for every malformed token.
  }
  throw badRequest('continue key is not valid: incorrect encoded start resourceVersion or key');
}

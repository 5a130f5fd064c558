/** The `resourceVersion` of reads and what it means. */
import {
  FieldPath,
  forbidden,
  type Issue,
  invalid as invalidValue,
  notSupported,
} from '../../machinery/values/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import { badRequest, invalid, tooLargeResourceVersion } from '../exchange/status.ts';

export function parseRevision(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^\d+$/.test(text))
    throw badRequest(`Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  return Number(text);
}

const FUTURE_WAIT_MS = 3000;

/** Waits a little for a revision another server may have handed out; 504 when it does not come. */
export async function waitForRevision(context: ServerContext, revision: number, signal: AbortSignal): Promise<void> {
  const { store, clock } = context;
  if (revision <= store.revision) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      stopWatch();
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const stopWatch = store.watch('', store.revision, () => {
      if (store.revision >= revision) queueMicrotask(finish);
    });
    const cancel = clock.after(FUTURE_WAIT_MS, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
  if (revision > store.revision) throw tooLargeResourceVersion(revision, store.revision);
}

export interface ListRevision {
  /** Read at exactly this revision. */
  readonly exact: number | undefined;
  /** The state may not be older than this. */
  readonly atLeast: number | undefined;
  readonly ignoreLimit: boolean;
}

const LIST_OPTIONS = { group: 'meta.k8s.io', kind: 'ListOptions' };

export function parseListRevision(query: URLSearchParams, limit: number): ListRevision {
  const given = query.get('resourceVersion');
  const match = query.get('resourceVersionMatch') || undefined;
  const issues: Issue[] = [];
  const matchPath = FieldPath.of('resourceVersionMatch');
  if (match !== undefined) {
    if (query.get('continue'))
      issues.push(forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided'));
    if (!given)
      issues.push(forbidden(matchPath, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan')
      issues.push(notSupported(matchPath, match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && given === '0') {
      issues.push(forbidden(matchPath, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.has('sendInitialEvents')) {
    issues.push(forbidden(FieldPath.of('sendInitialEvents'), 'sendInitialEvents is forbidden for list'));
  }
  if (issues.length > 0) throw invalid(LIST_OPTIONS, '', issues);
  const revision = parseRevision(given);
  if (revision === undefined) return { exact: undefined, atLeast: undefined, ignoreLimit: false };
  if (revision === 0) return { exact: undefined, atLeast: undefined, ignoreLimit: true };
  if (match === 'Exact' || (match === undefined && limit > 0))
    return { exact: revision, atLeast: undefined, ignoreLimit: false };
  return { exact: undefined, atLeast: revision, ignoreLimit: false };
}

/** Checks the combination a watch was opened with; true when it starts with the current state and an end marker. */
export function parseInitialEvents(query: URLSearchParams): boolean | undefined {
  const text = query.get('sendInitialEvents');
  const match = query.get('resourceVersionMatch') || undefined;
  const issues: Issue[] = [];
  if (text !== null && match !== 'NotOlderThan') {
    issues.push(
      match === undefined
        ? forbidden(
            FieldPath.of('resourceVersionMatch'),
            'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
          )
        : notSupported(FieldPath.of('resourceVersionMatch'), match, ['NotOlderThan']),
    );
  }
  if (text === null && match !== undefined) {
    issues.push(
      forbidden(
        FieldPath.of('resourceVersionMatch'),
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (text !== null && text !== 'true' && text !== 'false' && text !== '1' && text !== '0') {
    issues.push(invalidValue(FieldPath.of('sendInitialEvents'), text, 'must be true or false'));
  }
  if (issues.length > 0) throw invalid(LIST_OPTIONS, '', issues);
  return text === null ? undefined : text === 'true' || text === '1';
}

/** What a client was told is on the disk: writes that were confirmed, and whatever was shown to be there. */
import type { SharedEvent, TransportRequest, TransportResponse } from '../../../src/machinery/runtime/index.ts';
import type { SimulatedDisk } from '../disk.ts';
import type { Violated } from './oracle.ts';

interface Versioned {
  readonly metadata?: { readonly resourceVersion?: string };
}

export function watchAnswers(disk: SimulatedDisk, violated: Violated) {
  const seen = (what: string, object: unknown): void => {
    const revision = Number((object as Versioned | null)?.metadata?.resourceVersion ?? 0);
    if (revision > disk.revision)
      violated('durable', `${what} showed revision ${revision}, the disk has ${disk.revision}`);
  };
  return {
    answered(request: TransportRequest, { body, document, status }: TransportResponse): void {
      if (status >= 300 || request.path.includes('dryRun=')) return;
      const what = `${request.method} ${request.path}`;
      if (document !== undefined) seen(what, document);
      else if (body instanceof Uint8Array && body.length > 0) seen(what, readJson(body));
    },
    heard(request: TransportRequest, events: readonly SharedEvent[]): void {
      for (const { object, type } of events) if (type !== 'ERROR') seen(`watch of ${request.path}`, object);
    },
  };
}

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    // Not an object: nothing of it has a revision.
    return undefined;
  }
}

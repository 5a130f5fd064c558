/** The picture of a fleet, kept current in this process: what `quorate top` shows. */
import type { StreamLine } from '../../api/ui/stream.ts';
import { Fleet } from '../../fleet/index.ts';
import type { Clock, Logger } from '../../machinery/runtime/index.ts';
import { Feed } from './feed.ts';
import type { DashboardUser } from './reader.ts';

export interface FollowFleetOptions {
  readonly reader: DashboardUser;
  readonly server: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Everything there is has been read, or something of it has changed. */
  readonly changed: () => void;
}

export interface FollowedFleet {
  readonly fleet: Fleet;
  /** Everything there is has been read once. */
  readonly isComplete: boolean;
  /** Why what is known may be old; undefined while the server answers. */
  readonly stale: string | undefined;
  close(): void;
}

export function followFleet(options: FollowFleetOptions): FollowedFleet {
  const { changed, clock, log, reader, server } = options;
  const state = { fleet: new Fleet(), isComplete: false, stale: undefined as string | undefined };
  const feed = new Feed({ reader, server, remote: true, clock, log, ended: () => {} });
  feed.open({
    write(bytes) {
      let isNew = false;
      // A chunk holds whole lines, and ends with one.
      for (const text of Buffer.from(bytes).toString('utf8').trimEnd().split('\n')) {
        const said = JSON.parse(text) as StreamLine;
        state.fleet.hear(said);
        if ('ready' in said) state.isComplete = true;
        if ('known' in said && said.known === '*') state.stale = said.text;
        isNew ||= !('beat' in said);
      }
      if (state.isComplete && isNew) changed();
    },
    ready: () => undefined,
    end() {},
  });
  return Object.assign(state, { close: () => feed.stop() });
}

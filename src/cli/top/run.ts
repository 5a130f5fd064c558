import { type FollowedFleet, followFleet, readNamespaces } from '../../app/index.ts';
import { deferred, systemClock } from '../../machinery/runtime/index.ts';
import { openCluster } from '../shared/cluster.ts';
import { failWith } from '../shared/fail.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { createLogger } from '../shared/logger.ts';
import { watchProcess } from '../shared/process-end.ts';
import { paintFor, WIDTH } from '../shared/terminal.ts';
import { changes, facts, topRows } from './rows.ts';
import { drawScreen } from './screen.ts';

export interface TopFlags extends ClusterFlags {
  readonly once?: boolean;
}

/** Nobody reads faster. */
const REDRAW_MS = 250;
/** The time in the header goes on, and what is told with an age. */
const TICK_MS = 1000;

const ALTERNATE = { on: '\u001b[?1049h\u001b[?25l', off: '\u001b[?25h\u001b[?1049l' };
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

export async function runTop(flags: TopFlags): Promise<void> {
  try {
    const cluster = openCluster(flags);
    try {
      // A server that cannot be reached is said at once, as with every other command.
      await cluster.client.request('GET', '/version');
      const { client, namespace, server, transport } = cluster;
      const reader = { id: 'top', name: 'top', transport, namespaces: () => readNamespaces(client, namespace) };
      const first = deferred();
      const listening = { changed: (): void => first.resolve() };
      const followed = followFleet({
        reader,
        server,
        clock: systemClock,
        log: createLogger('error', 'text'),
        changed: () => listening.changed(),
      });
      try {
        await first.promise;
        if (flags.once === true) process.stdout.write(`${frame(followed, flags, server, WIDTH).join('\n')}\n`);
        else await follow(followed, listening, flags, server);
      } finally {
        followed.close();
      }
    } finally {
      cluster.close();
    }
  } catch (error) {
    process.exitCode = failWith('top', error);
  }
}

function frame(
  { fleet, stale }: FollowedFleet,
  { namespace }: TopFlags,
  server: string,
  columns: number,
  lines?: number,
): string[] {
  const now = Date.now();
  fleet.settle(now);
  const time = new Date(now).toTimeString().slice(0, 8);
  const paint = paintFor(process.stdout);
  return drawScreen(fleet, topRows(fleet, { namespace, now }), { server, time, stale, columns, lines, paint });
}

async function follow(
  followed: FollowedFleet,
  listening: { changed: () => void },
  flags: TopFlags,
  server: string,
): Promise<void> {
  const end = watchProcess('top', createLogger('error', 'text'));
  const quit = deferred();
  const show = process.stdout.isTTY ? fillScreen(followed, flags, server, quit.resolve) : printChanges(followed, flags);
  let waiting: NodeJS.Timeout | undefined;
  listening.changed = () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      show.draw();
    }, REDRAW_MS);
  };
  show.draw();
  const tick = setInterval(show.draw, TICK_MS);
  // Whoever reads us may stop reading, as `head` does.
  process.stdout.on('error', quit.resolve);
  await Promise.race([end.asked(), quit.promise]);
  await end.stop(() => {
    listening.changed = () => {};
    clearInterval(tick);
    clearTimeout(waiting);
    show.close();
  });
}

interface Show {
  readonly draw: () => void;
  readonly close: () => void;
}

function fillScreen(followed: FollowedFleet, flags: TopFlags, server: string, quit: () => void): Show {
  const { stdin, stdout } = process;
  stdout.write(ALTERNATE.on);
  const draw = (): void => {
    const { columns, rows } = stdout;
    const lines = frame(followed, flags, server, columns, rows - 1).map((line) => `${line}${CLEAR_LINE}`);
    stdout.write(`${HOME}${lines.join('\r\n')}${CLEAR_BELOW}`);
  };
  const typed = (key: Buffer): void => {
    // In raw mode Ctrl-C is a key like others.
    if (/[qQ\u0003]/.test(key.toString('utf8'))) quit();
  };
  if (stdin.isTTY) stdin.setRawMode(true).on('data', typed).resume();
  stdout.on('resize', draw);
  return {
    draw,
    close() {
      stdout.removeListener('resize', draw);
      stdin.removeListener('data', typed);
      if (stdin.isTTY) stdin.setRawMode(false).pause();
      stdout.write(ALTERNATE.off);
    },
  };
}

function printChanges({ fleet }: FollowedFleet, { namespace }: TopFlags): Show {
  let before: ReadonlyMap<string, string> = new Map();
  return {
    draw() {
      const now = Date.now();
      fleet.settle(now);
      const after = facts(topRows(fleet, { namespace, now }));
      const time = new Date(now).toISOString();
      for (const line of changes(before, after)) process.stdout.write(`${time} ${line}\n`);
      before = after;
    },
    close() {},
  };
}

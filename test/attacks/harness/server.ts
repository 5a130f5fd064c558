/**
 * The server in a process of its own, with a recorder of its turns loaded into it: the built one (`npm run build` first),
 * or the sources where nothing is built, as in `npm test`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const BUILT = [join(ROOT, 'dist', 'cli', 'main.js')];
const SOURCE = ['--import', 'tsx', join(ROOT, 'src', 'cli', 'main.ts')];
const RECORDER = join(import.meta.dirname, 'turn-recorder.mjs');
const START_MS = 120_000;

/** What the recorder saw since it was asked last. */
export interface Turns {
  /** The longest time between two looks at the event loop, waits for a processor included. */
  readonly longestMs: number;
  /** The part of such a time in which the process ran. */
  readonly longestRunMs: number;
  /** How many turns ran for more than 50 ms. */
  readonly over50Ms: number;
  /** Errors that nothing caught. */
  readonly unhandled: number;
  /** Of the whole life of the process. */
  readonly peakRssMb: number;
}

/** Where the server is and how to be its administrator. */
export interface Access {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface AttackedServer {
  readonly access: Access;
  readonly kubeconfig: string;
  readonly pid: number;
  /** Everything the process has printed. */
  output(): string;
  /** Undefined while the process lives; otherwise how it ended. */
  ended(): string | undefined;
  /** What was recorded since the last call. Waits for the thread to be free. */
  turns(): Promise<Turns>;
  /** Stops the process and starts it again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly access: Access;
}

export interface ServerOptions {
  /** Run the sources. Default: what was built. */
  readonly fromSource?: boolean;
  /** More flags of `quorate up`. */
  readonly flags?: readonly string[];
  /** Flags of Node itself, such as `--max-old-space-size=800`. */
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function startAttackedServer(options: ServerOptions = {}): Promise<AttackedServer> {
  const main = options.fromSource === true ? SOURCE : BUILT;
  if (!existsSync(main.at(-1) as string)) throw new Error('Cannot start the built server: run npm run build first');
  const folder = mkdtempSync(join(tmpdir(), 'quorate-attacked-'));
  const kubeconfig = join(folder, 'kubeconfig');
  let text = '';
  let end: string | undefined;
  const start = async (): Promise<Running> => {
    end = undefined;
    const flags = ['--port', '0', '--nodes', '0', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig];
    const nodeFlags = [...(options.nodeFlags ?? []), '--import', RECORDER];
    const child = spawn(process.execPath, [...nodeFlags, ...main, 'up', ...flags, ...(options.flags ?? [])], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, ...options.env },
    });
    child.once('exit', (code, signal) => (end = signal ?? `exit code ${code}`));
    const startedAt = text.length;
    const ready = new Promise<void>((resolve, reject) => {
      const take = (chunk: Buffer): void => {
        text += chunk.toString('utf8');
        if (text.includes('export KUBECONFIG=', startedAt)) resolve();
      };
      child.stdout?.on('data', take);
      child.stderr?.on('data', take);
      child.once('exit', () => reject(new Error(`The server ended before it was ready:\n${text.slice(startedAt)}`)));
      const late = () => reject(new Error(`The server was not ready in time:\n${text.slice(startedAt)}`));
      setTimeout(late, START_MS).unref();
    });
    await ready;
    return { child, access: readAccess(kubeconfig) };
  };
  const halt = async ({ child }: Running): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), 30_000);
    await exited;
    clearTimeout(hard);
  };
  let running = await start();
  return {
    get access() {
      return running.access;
    },
    get pid() {
      return running.child.pid as number;
    },
    kubeconfig,
    output: () => text,
    ended: () => end,
    turns: () => askForTurns(running.child),
    async restart() {
      await halt(running);
      running = await start();
    },
    async stop() {
      await halt(running);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function askForTurns(child: ChildProcess): Promise<Turns> {
  if (!child.connected) throw new Error('Cannot ask for turns: the server has ended');
  const [answer] = await new Promise<[Turns]>((resolve, reject) => {
    const gone = () => reject(new Error('The server ended while it was asked for its turns'));
    child.once('exit', gone);
    child.once('message', (message) => {
      child.off('exit', gone);
      resolve([message as Turns]);
    });
    child.send('turns');
  });
  return answer;
}

/** The administrator's access from a kubeconfig that `quorate up` wrote. */
export function readAccess(kubeconfig: string): Access {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[];
  };
  const cluster = config.clusters[0]?.cluster ?? {};
  const user = config.users[0]?.user ?? {};
  const url = new URL(cluster['server'] ?? '');
  const decode = (text: string | undefined) => Buffer.from(text ?? '', 'base64').toString('utf8');
  return {
    host: url.hostname,
    port: Number(url.port),
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  };
}

/** `quorate up` in a process of its own, killed and started again on the same data and the same port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Access, readAccess } from '../attacks/harness/index.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BUILT = [join(ROOT, 'dist', 'cli', 'main.js')];
const SOURCE = ['--import', 'tsx', join(ROOT, 'src', 'cli', 'main.ts')];

export interface MortalServer {
  readonly access: Access;
  readonly isAlive: boolean;
  /** Resolves to false where the server was killed before it was ready. */
  start(): Promise<boolean>;
  kill(): Promise<void>;
  remove(): void;
}

export async function mortalServer(fromSource: boolean): Promise<MortalServer> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-mortal-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const files = ['--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig];
  const flags = ['up', '--api-only', '--nodes', '0', '--port', String(await freePort()), ...files];
  let child: ChildProcess | undefined;
  let ended: Promise<void> = Promise.resolve();
  let access: Access | undefined;
  let isAlive = false;
  let wasKilled = false;
  return {
    get access() {
      return (access ??= readAccess(kubeconfig));
    },
    get isAlive() {
      return isAlive;
    },
    async start() {
      const begun = spawn(process.execPath, [...(fromSource ? SOURCE : BUILT), ...flags], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = begun;
      wasKilled = false;
      let text = '';
      const ready = new Promise<boolean>((resolve) => {
        const take = (chunk: Buffer): void => {
          text += chunk.toString('utf8');
          if (text.includes('export KUBECONFIG=')) resolve(true);
        };
        begun.stdout.on('data', take);
        begun.stderr.on('data', take);
        begun.once('exit', () => resolve(false));
      });
      ended = new Promise((resolve) => begun.once('exit', () => ((isAlive = false), resolve())));
      isAlive = await ready;
      if (!isAlive && !wasKilled) throw new Error(`The server ended by itself:\n${text}`);
      return isAlive;
    },
    async kill() {
      wasKilled = true;
      child?.kill('SIGKILL');
      await ended;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

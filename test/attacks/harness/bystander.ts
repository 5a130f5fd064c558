/**
 * A client that does nothing wrong: it reads a small object over its own connection, again and again, and notes how long
 * each answer takes. It runs in a process of its own, as the attacker's process may be busy with its attack.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Access } from './server.ts';

/** Of the answers since the last look. */
export interface Waits {
  readonly answers: number;
  readonly failures: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Bystander {
  waits(): Promise<Waits>;
  stop(): void;
}

export async function startBystander(access: Access): Promise<Bystander> {
  const child = fork(join(import.meta.dirname, 'bystander-process.ts'), { execArgv: ['--import', 'tsx'] });
  child.send(access);
  // The first look waits for the process to have started, and its figures are those of the start.
  await ask(child);
  return {
    waits: () => ask(child),
    stop: () => void child.kill('SIGKILL'),
  };
}

function ask(child: ChildProcess): Promise<Waits> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('The bystander ended'));
    child.once('exit', gone);
    child.once('message', (message) => {
      child.off('exit', gone);
      resolve(message as Waits);
    });
    child.send('waits');
  });
}

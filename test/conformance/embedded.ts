import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface EmbeddedHost {
  readonly kubeconfig: string;
  /** Holds the process until `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;

/** Runs the built `quorate up` as its users do: a process of its own, on disk, with three simulated nodes. */
export async function startEmbedded(
  options: { rules?: string | undefined; nodes?: number } = {},
): Promise<EmbeddedHost> {
  const main = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
  if (!existsSync(main)) throw new Error('Cannot start quorate up: dist/ is missing; run npm run build first');
  const folder = mkdtempSync(join(tmpdir(), 'quorate-up-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const child = spawn(
    process.execPath,
    [
      main,
      'up',
      '--port',
      '0',
      '--data-dir',
      join(folder, 'data'),
      '--kubeconfig',
      kubeconfig,
      '--nodes',
      String(options.nodes ?? 3),
      ...(options.rules === undefined ? [] : ['--rules', options.rules]),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('quorate up did not say it was ready')), START_TIMEOUT_MS);
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString('utf8');
      if (!seen.includes('KUBECONFIG=')) return;
      clearTimeout(timer);
      resolve();
    });
    void exited.then((code) => reject(new Error(`quorate up ended with code ${code} before it was ready:\n${seen}`)));
  });
  return {
    kubeconfig,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

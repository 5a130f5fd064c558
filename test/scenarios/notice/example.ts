/** Runs one of `examples/notice` as its own process, as its README says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const EXAMPLES = new URL('../../../examples/notice/', import.meta.url);

export class Example {
  readonly #process: ChildProcess;
  readonly #port: number;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.#port = port;
  }

  static async start(file: string, environment: Record<string, string>): Promise<Example> {
    const path = fileURLToPath(new URL(file, EXAMPLES));
    const isPython = file.endsWith('.py');
    const child = spawn(isPython ? 'python3' : process.execPath, isPython ? ['-B', path] : ['--import', 'tsx', path], {
      env: { ...process.env, ...environment, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const port = await new Promise<number>((resolve, reject) => {
      let text = '';
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
      child.stdout?.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const found = /listening on port (\d+)/.exec(text)?.[1];
        if (found !== undefined) resolve(Number(found));
      });
    });
    return new Example(child, port);
  }

  async call(action: string, token: string): Promise<{ status: number; body: Record<string, unknown> }> {
    const body = JSON.stringify({
      apiVersion: 'notice.quorate.dev/v1',
      id: 'n1',
      action,
      attempt: 1,
      group: { namespace: 'ml', kind: 'PodGroup', name: 'trainer' },
      members: [{ name: 'trainer-0', uid: 'u0', node: 'node-0' }],
      reason: 'kernel',
      startedAt: '2026-11-17T10:00:00.000000Z',
      deadline: '2026-11-17T10:10:00.000000Z',
    });
    const headers = { authorization: token, 'idempotency-key': `n1/${action}` };
    const response = await fetch(`http://127.0.0.1:${this.#port}/`, { method: 'POST', headers, body });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill();
    await gone;
  }
}

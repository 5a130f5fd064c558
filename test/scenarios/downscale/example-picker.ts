/** Runs one of `examples/pickers` as its own process, as its README says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DownscalePodPicker } from '../../../src/api/generated/apps-v1.ts';

const EXAMPLES = new URL('../../../examples/pickers/', import.meta.url);

export class ExamplePicker {
  readonly #process: ChildProcess;
  readonly port: number;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  static async start(file: string, environment: Record<string, string> = {}): Promise<ExamplePicker> {
    const path = fileURLToPath(new URL(file, EXAMPLES));
    const command = file.endsWith('.py') ? 'python3' : process.execPath;
    const args = file.endsWith('.py') ? [path] : ['--import', 'tsx', path];
    const child = spawn(command, args, {
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
    return new ExamplePicker(child, port);
  }

  async report(pod: string, report: { load?: number; region?: string }): Promise<void> {
    const url = `http://127.0.0.1:${this.port}/pods/${pod}`;
    const response = await fetch(url, { method: 'PUT', body: JSON.stringify(report) });
    if (!response.ok) throw new Error(`The picker refused a report with ${response.status}`);
  }

  /** The field that points here. */
  field(httpHeaders: NonNullable<DownscalePodPicker['http']>['httpHeaders'] = []): DownscalePodPicker {
    return { timeoutSeconds: 10, maxRetries: 0, http: { host: '127.0.0.1', port: this.port, httpHeaders } };
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill();
    await gone;
  }
}

/** A terminal of 80 columns with a shell in it, to type into. `script`, of util-linux, gives it a real one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { screenOf } from './screen.ts';

export const COLUMNS = 80;
const ROWS = 40;
const PATIENCE_MS = 240_000;
/** Nothing prints it but the shell when a command has ended. */
const MARK = '\u001e';

export interface Typed {
  readonly command: string;
  readonly code: number;
  /** As it stands on the screen, with what has scrolled away. */
  readonly lines: readonly string[];
}

export class Terminal {
  readonly #shell: ChildProcess;
  #written = '';
  #heard = (): void => {};
  #ended = false;

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    const shell = 'bash --noprofile --norc --noediting';
    this.#shell = spawn('script', ['-qfec', shell, '/dev/null'], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#shell.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#written += text;
      this.#heard();
    });
    this.#shell.once('exit', () => {
      this.#ended = true;
      this.#heard();
    });
  }

  /** The shell answers, and shows nothing of its own. */
  async open(): Promise<void> {
    this.press(`stty -echo cols ${COLUMNS} rows ${ROWS}; PS1=; PS2=\n`);
    await this.type('true');
  }

  /** Types a command and waits until it has ended. */
  async type(command: string): Promise<Typed> {
    this.start(command);
    return this.end(command);
  }

  /** Types a command that goes on. */
  start(command: string): void {
    this.#written = '';
    this.press(`${command}\n`);
  }

  /** Waits until a command that was started has ended. */
  async end(command: string): Promise<Typed> {
    this.press(`printf '\\036%s\\036' $?\n`);
    const [, code = ''] = await this.until(new RegExp(`${MARK}(\\d+)${MARK}`), command);
    return { command, code: Number(code), lines: screenOf(this.#written.split(MARK, 1)[0] ?? '') };
  }

  press(keys: string): void {
    this.#shell.stdin?.write(keys);
  }

  /** What stands there now. */
  screen(): string[] {
    return screenOf(this.#written);
  }

  async until(pattern: RegExp, command: string): Promise<RegExpExecArray> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = pattern.exec(this.#written);
      if (found !== null) return found;
      if (this.#ended || Date.now() > giveUpAt) {
        throw new Error(`${command}: waited in vain for ${pattern}\n${this.screen().join('\n')}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, giveUpAt - Date.now());
        this.#heard = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Ends what runs in it too: they lose their terminal. */
  kill(): void {
    this.#shell.kill('SIGHUP');
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    const ended = new Promise((resolve) => this.#shell.once('exit', resolve));
    this.press('\u0003exit\n');
    this.#shell.stdin?.end();
    await ended;
  }
}

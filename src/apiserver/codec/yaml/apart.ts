/**
 * YAML is dear to read: what kubectl sends is small, but a body may have 3 MB, and reading that takes seconds. Large
 * texts are therefore read on a thread of their own, one at a time, within bounds of memory and time.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ReadYaml } from '../../context/codec.ts';
import { LIMITS } from '../../exchange/limits.ts';
import { tooManyRequests } from '../../exchange/status.ts';
import { DecodeError, TooLargeError } from '../decode-error.ts';
import { jsonInYaml } from './parse.ts';
import type { YamlAnswer } from './worker.ts';

/** Gives what was read, or throws what parseYaml would have thrown. */
export async function readYamlApart(text: string, user: string, by = reader): Promise<ReadYaml> {
  const json = jsonInYaml(text);
  return json === undefined ? resultOf(await by.read(text, user)) : () => json;
}

function resultOf(answer: YamlAnswer): ReadYaml {
  return () => {
    switch (answer.outcome) {
      case 'read':
        return { value: JSON.parse(answer.json) as unknown, duplicates: answer.duplicates };
      case 'malformed':
        throw new DecodeError(answer.message);
      case 'too large':
        throw new TooLargeError(answer.message);
    }
  };
}

interface Job {
  readonly text: string;
  readonly user: string;
  readonly done: (answer: YamlAnswer) => void;
}

/** Reads one text after another; half of those that wait may be of one user, so that there is room for others. */
export class YamlReader {
  readonly #readMs: number;
  readonly #waiting: Job[] = [];
  #worker: Promise<Worker> | undefined;
  #isBusy = false;

  constructor(readMs: number = LIMITS.yamlReadMs) {
    this.#readMs = readMs;
  }

  read(text: string, user: string): Promise<YamlAnswer> {
    const own = this.#waiting.filter((job) => job.user === user).length;
    if (this.#waiting.length >= LIMITS.yamlWaiting || own >= LIMITS.yamlWaitingOfUser) {
      return Promise.reject(tooManyRequests('too many large YAML bodies are being read, please try again later'));
    }
    return new Promise((done) => {
      this.#waiting.push({ text, user, done });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      job.done(await this.#answer(job.text));
    }
    this.#isBusy = false;
  }

  async #answer(text: string): Promise<YamlAnswer> {
    let worker: Worker | undefined;
    try {
      worker = await (this.#worker ??= startWorker());
      worker.ref();
      return await answerOf(worker, text, this.#readMs);
    } catch (error) {
      // It took too long or too much memory: the thread is of no use any more.
      this.#worker = undefined;
      void worker?.terminate();
      const message = `Request entity too large: this YAML cannot be read: ${(error as Error).message}`;
      return { outcome: 'too large', message };
    } finally {
      worker?.unref();
    }
  }
}

async function answerOf(worker: Worker, text: string, readMs: number): Promise<YamlAnswer> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), readMs);
  try {
    const answering = once(worker, 'message', { signal: limit.signal });
    worker.postMessage(text);
    const [answer] = (await answering) as [YamlAnswer];
    return answer;
  } catch (error) {
    throw limit.signal.aborted ? new Error(`it takes more than ${readMs / 1000} s`) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Tests run from source, which a thread does not read by itself. */
const FROM_SOURCE = `
  const { workerData } = require('node:worker_threads');
  import('tsx/esm/api').then(({ tsImport }) => tsImport(workerData, workerData));
`;

/** Resolves when the thread waits for its first text. */
async function startWorker(): Promise<Worker> {
  const resourceLimits = { maxOldGenerationSizeMb: LIMITS.yamlMemoryMb };
  const isBuilt = import.meta.url.endsWith('.js');
  const worker = isBuilt
    ? new Worker(new URL('./worker.js', import.meta.url), { resourceLimits })
    : new Worker(FROM_SOURCE, { resourceLimits, eval: true, workerData: new URL('./worker.ts', import.meta.url).href });
  // Whoever waits for an answer hears of it as well; what fails while nobody waits must not end the process.
  worker.on('error', () => undefined);
  await once(worker, 'message');
  worker.unref();
  return worker;
}

const reader = new YamlReader();

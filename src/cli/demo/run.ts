import { type Beat, findStory, playStory, stories, type Story } from '../../tasks/index.ts';
import { sleep, systemClock } from '../../machinery/runtime/index.ts';
import { formatBeat, formatStories, type Look, lookOf, readingTimeMs } from './text.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';
import { complain } from '../shared/complain.ts';

export interface DemoFlags {
  readonly fast?: boolean;
  readonly keep?: boolean;
  readonly list?: boolean;
  readonly output: OutputFormat;
}

const INTERRUPTED = 130;

export async function runDemo(name: string | undefined, flags: DemoFlags): Promise<number> {
  const look = lookOf(process.stdout, process.env);
  if (flags.list === true) {
    const listed = stories.map((story) => ({ name: story.name, title: story.title }));
    process.stdout.write(
      flags.output === 'text' ? formatStories(stories, look) : formatOutput(listed, [], flags.output),
    );
    return 0;
  }
  // The first is the one to see if one sees only one.
  const story = name === undefined ? stories[0] : findStory(name);
  if (story === undefined) {
    const known = stories.map((one) => one.name).join(', ');
    complain(`quorate demo: there is no story "${name ?? ''}"; there are ${known}`);
    return 1;
  }
  const abort = new AbortController();
  const stop = (): void => abort.abort(new Error('interrupted'));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    return await play(story, flags, { look, signal: abort.signal });
  } finally {
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
  }
}

async function play(
  story: Story,
  flags: DemoFlags,
  { look, signal }: { look: Look; signal: AbortSignal },
): Promise<number> {
  const told: Beat[] = [];
  const asText = flags.output === 'text';
  const fast = flags.fast === true || !asText || !process.stdout.isTTY;
  const print = (text: string): void => {
    if (asText) process.stdout.write(text);
  };
  let failure: Error | undefined;
  try {
    await playStory(story, {
      fast,
      signal,
      async tell(beat) {
        print(formatBeat(beat, look, told.at(-1)?.kind));
        told.push(beat);
        if (!fast) await sleep(systemClock, readingTimeMs(beat), signal);
      },
      onStart: (kubeconfig) =>
        print(`${story.title}.\n\nTo follow with kubectl in another terminal:\n  export KUBECONFIG=${kubeconfig}\n`),
      async onFinish() {
        if (flags.keep !== true) return;
        print('\nThe control plane stays up; kubectl works as above. Ctrl-C ends it.\n');
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      },
    });
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  const interrupted = signal.aborted && failure !== undefined;
  if (!asText) {
    const transcript = { story: story.name, title: story.title, ok: failure === undefined, beats: told };
    process.stdout.write(formatOutput(transcript, [], flags.output));
  }
  if (interrupted) print('\nStopped; nothing is left behind.\n');
  else if (failure !== undefined) {
    complain(`quorate demo: ${failure.message}`);
  }
  return interrupted ? INTERRUPTED : failure === undefined ? 0 : 1;
}

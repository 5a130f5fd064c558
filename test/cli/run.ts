/** Types a command line in this process and keeps what it prints. */
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { readArguments } from '../../src/cli/shared/flags.ts';

export interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];

/** One at a time: standard output and the exit code are the process's own. */
export async function quorate(...words: string[]): Promise<Printed> {
  const printed = { out: '', err: '' };
  const streams = { out: process.stdout, err: process.stderr };
  const kept = {
    out: streams.out.write.bind(streams.out),
    err: streams.err.write.bind(streams.err),
    code: process.exitCode,
  };
  for (const name of ['out', 'err'] as const) {
    streams[name].write = (text: string | Uint8Array) => {
      printed[name] += String(text);
      return true;
    };
  }
  process.exitCode = undefined;
  let code = 0;
  try {
    const program = createProgram();
    for (const command of all(program)) command.exitOverride();
    await program.parseAsync(readArguments(words), { from: 'user' });
    code = Number(process.exitCode ?? 0);
  } catch (error) {
    const { exitCode } = error as { exitCode?: number };
    if (exitCode === undefined) throw error;
    code = exitCode;
  } finally {
    streams.out.write = kept.out;
    streams.err.write = kept.err;
    process.exitCode = kept.code;
  }
  return { ...printed, code };
}

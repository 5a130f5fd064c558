#!/usr/bin/env node
import { createProgram, programName } from './program.ts';
import { readArguments } from './shared/flags.ts';

// A reader that has seen enough, such as `head`, or a terminal that was closed is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

await createProgram(programName(process.argv[1])).parseAsync(readArguments(process.argv));

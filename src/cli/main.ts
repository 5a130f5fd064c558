#!/usr/bin/env node
import { createProgram } from './program.ts';
import { readArguments } from './shared/flags.ts';

// A reader that has seen enough, such as `head`, or a terminal that was closed is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

await createProgram().parseAsync(readArguments(process.argv));

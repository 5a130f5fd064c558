#!/usr/bin/env node
import { basename } from 'node:path';
import { createProgram, programName } from './program.ts';
import { readArguments } from './shared/flags.ts';

// A reader that has seen enough, such as `head`, or a terminal that was closed is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

// kubectl asks a plugin's companion of this name what could be typed next.
const completes = basename(process.argv[1] ?? '').startsWith('kubectl_complete-');
const words = completes
  ? [...process.argv.slice(0, 2), '__complete', '--', ...process.argv.slice(2)]
  : readArguments(process.argv);
await createProgram(programName(process.argv[1])).parseAsync(words);

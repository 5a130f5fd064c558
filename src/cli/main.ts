#!/usr/bin/env node
import { Command } from 'commander';
import { commands } from './commands.ts';

const program = new Command('quorate')
  .description('Keeps groups of pods whole: budgets, evictions, downscales and scheduling that count groups.')
  .showHelpAfterError('(quorate --help shows what there is)');
for (const register of commands) register(program);
await program.parseAsync();

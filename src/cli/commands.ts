/** Every command of the program; each file registers its own and loads what it needs only when it runs. */
import type { Command } from 'commander';
import { register as doctor } from './doctor.ts';
import { register as demo } from './demo.ts';
import { register as drain } from './drain.ts';
import { register as evict } from './evict.ts';
import { register as install } from './install.ts';
import { register as lint } from './lint.ts';
import { register as node } from './node.ts';
import { register as nodes } from './nodes.ts';
import { register as operator } from './operator.ts';
import { register as plan } from './plan.ts';
import { register as scheduler } from './scheduler.ts';
import { register as simulate } from './simulate.ts';
import { register as snapshot } from './snapshot.ts';
import { register as up } from './up.ts';
import { register as why } from './why.ts';

export const commands: readonly ((program: Command) => void)[] = [
  up,
  demo,
  why,
  drain,
  evict,
  plan,
  snapshot,
  simulate,
  lint,
  scheduler,
  nodes,
  node,
  operator,
  install,
  doctor,
];

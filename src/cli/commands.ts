/** Every command of the program; each file registers its own and loads what it needs only when it runs. */
import type { Command } from 'commander';
import { register as completion } from './completion/command.ts';
import { register as dashboard } from './dashboard/command.ts';
import { register as doctor } from './doctor/command.ts';
import { register as demo } from './demo/command.ts';
import { register as down } from './down/command.ts';
import { register as drain } from './drain/command.ts';
import { register as evict } from './evict/command.ts';
import { register as history } from './history/command.ts';
import { register as install } from './install/command.ts';
import { register as lint } from './lint/command.ts';
import { register as logs } from './logs/command.ts';
import { register as migrate } from './migrate/command.ts';
import { register as maintenance } from './maintenance/command.ts';
import { register as node } from './node/command.ts';
import { register as nodes } from './nodes/command.ts';
import { register as operator } from './operator/command.ts';
import { register as plan } from './plan/command.ts';
import { register as scheduler } from './scheduler/command.ts';
import { register as simulate } from './simulate/command.ts';
import { register as snapshot } from './snapshot/command.ts';
import { register as status } from './status/command.ts';
import { register as top } from './top/command.ts';
import { register as up } from './up/command.ts';
import { register as version } from './version/command.ts';
import { register as why } from './why/command.ts';

export const commands: readonly ((program: Command) => void)[] = [
  up,
  status,
  logs,
  down,
  demo,
  dashboard,
  top,
  why,
  drain,
  maintenance,
  history,
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
  migrate,
  doctor,
  completion,
  version,
];

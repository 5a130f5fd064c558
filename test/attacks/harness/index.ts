export {
  type Attack,
  BOUNDS,
  describeFigures,
  type Figures,
  isWithinBounds,
  measureAttack,
} from './attack.ts';
export { type Bystander, startBystander, type Waits } from './bystander.ts';
export { type Answer, type Identity, send, type Sent } from './send.ts';
export {
  type Access,
  type AttackedServer,
  readAccess,
  type ServerOptions,
  startAttackedServer,
  type Turns,
} from './server.ts';

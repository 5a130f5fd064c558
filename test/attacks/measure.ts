/**
 * `npm run test:attacks:measure`: every hostile request and every costly input against the built server, one after another, with the longest turn of its thread and
 * what a bystander had to wait. Words on the command line choose attacks by name.
 */
import { costAttacks } from './costs/attacks.ts';
import { httpAttacks } from './http/attacks.ts';
import { describeFigures, type Figures, isWithinBounds, measureAttack, startAttackedServer } from './harness/index.ts';

const words = process.argv.slice(2);
const chosen = [...httpAttacks, ...costAttacks].filter(({ name }) => words.every((word) => name.includes(word)));
const all: Figures[] = [];
let server = await startAttackedServer();
try {
  for (const attack of chosen) {
    const figures = await measureAttack(attack, server);
    all.push(figures);
    console.error(describeFigures([figures]).split('\n')[1]);
    if (figures.ended === undefined) continue;
    console.error(server.output().slice(-2000));
    await server.stop();
    server = await startAttackedServer();
  }
} finally {
  await server.stop();
}
console.log(describeFigures(all));
process.exitCode = all.every(isWithinBounds) ? 0 : 1;

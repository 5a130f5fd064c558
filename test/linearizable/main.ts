/**
 * `npm run test:linearizable -- --kills N [--seed S]`: clients at work against the built server, which is killed so many
 * times; their histories are judged. One that breaks a rule is written to a file; `--replay FILE` judges it again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { History, Violation } from './history.ts';
import { judge } from './judge.ts';
import { play } from './play.ts';
import { mortalServer } from './server.ts';

const { values: flags } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
  },
});
const KILLS_EACH = 5;
const SHOWN = 10;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function show(violations: readonly Violation[]): void {
  for (const { rule, text } of violations.slice(0, SHOWN)) say(`  ${rule}: ${text}`);
  if (violations.length > SHOWN) say(`  and ${violations.length - SHOWN} more`);
}

async function campaign(kills: number, seed: number): Promise<boolean> {
  say(`seed ${seed}, ${kills} kills`);
  const server = await mortalServer(false);
  const totals = { histories: 0, kills: 0, requests: 0, unanswered: 0, lists: 0, watches: 0, events: 0, gone: 0 };
  let broken = 0;
  // An interrupted campaign ends in order, too, and reports what it has.
  let isEnding = false;
  process.once('SIGINT', () => (isEnding = true));
  try {
    await server.start();
    const begun = performance.now();
    while (totals.kills < kills && !isEnding) {
      const own = seed * 100_000 + totals.histories;
      const count = Math.min(KILLS_EACH, kills - totals.kills);
      const played = await play(server, { seed: own, kills: count, namespace: `history-${own}` });
      const { history, violations } = played;
      totals.histories += 1;
      totals.kills += count;
      totals.requests += history.operations.length + history.budget.length;
      totals.unanswered += [...history.operations, ...history.budget].filter(
        ({ answer }) => answer === undefined,
      ).length;
      totals.lists += history.listings.length;
      totals.watches += history.streams.length;
      totals.gone += history.streams.filter(({ isGone }) => isGone).length;
      for (const { heard } of history.streams) totals.events += heard.length;
      if (violations.length > 0) {
        broken += 1;
        const file = `history-${own}.json`;
        writeFileSync(file, JSON.stringify(history));
        say(`history ${own} breaks ${violations.length} times; it is in ${file}`);
        show(violations);
      }
      const seconds = Math.round((performance.now() - begun) / 1000);
      process.stderr.write(`${totals.kills} kills in ${seconds} s, ${broken} histories broken\n`);
    }
  } finally {
    await server.kill();
    server.remove();
  }
  say(
    Object.entries(totals)
      .map(([what, count]) => `${what} ${count}`)
      .join(', '),
  );
  say(`${broken} histories broken`);
  return broken === 0;
}

if (flags.replay === undefined) {
  process.exitCode = (await campaign(Number(flags.kills), Number(flags.seed))) ? 0 : 1;
} else {
  const violations = judge(JSON.parse(readFileSync(flags.replay, 'utf8')) as History);
  show(violations);
  say(`${violations.length} violations`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}

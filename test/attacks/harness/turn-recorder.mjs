// Loaded into the server's process before the server itself (node --import): notes how long its thread did not come
// back to its event loop. The server knows nothing of it. Plain JavaScript, as the built server runs without a compiler.
import process from 'node:process';

const TICK_MS = 1;

const fresh = () => ({ longestMs: 0, longestRunMs: 0, over50Ms: 0, unhandled: 0 });
let seen = fresh();
let before = performance.now();
let cpuBefore = process.cpuUsage();

// A timer that is late by n ms: what ran since the last one held the thread for that long.
const timer = setInterval(() => {
  const now = performance.now();
  const cpu = process.cpuUsage(cpuBefore);
  const gap = now - before - TICK_MS;
  // On a machine with other work a turn also waits for a processor. The time the process ran is the turn's own part;
  // other threads of the process count in it, so it is never less than the truth.
  const ran = Math.min(gap, (cpu.user + cpu.system) / 1000);
  if (gap > seen.longestMs) seen.longestMs = gap;
  if (ran > seen.longestRunMs) seen.longestRunMs = ran;
  if (ran > 50) seen.over50Ms++;
  before = now;
  cpuBefore = process.cpuUsage();
}, TICK_MS);
timer.unref();

process.on('uncaughtExceptionMonitor', () => seen.unhandled++);

// Asked by the harness over the channel that spawn() opens; reading also starts over.
process.on('message', (message) => {
  if (message !== 'turns') return;
  process.send?.({ ...seen, peakRssMb: process.resourceUsage().maxRSS / 1024 });
  seen = fresh();
});
process.channel?.unref();
// Nobody is left to ask: the server was started for the harness alone.
process.on('disconnect', () => process.exit());

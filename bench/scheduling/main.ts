/**
 * Scheduling speed: one group decision at 5,000 nodes, and 10,000 pods in gangs of 8 on Quorate and on Kubernetes.
 * Usage: tsx bench/scheduling/main.ts [nodes] [gangs] [--alone]
 */
import { measureDecisions } from './decision.ts';
import { startEmbeddedHost, startKubernetesHost } from './hosts.ts';
import { type Lap, runLap } from './race.ts';

const args = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const [nodes, gangs] = [Number(args[0] ?? 5000), Number(args[1] ?? 1250)];
const options = { nodes, gangs, size: 8 };
const ms = (value: number): string => `${value.toFixed(2)} ms`;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const decision = measureDecisions(options);
say(
  `decision    ${decision.nodes} nodes, ${decision.pods} pods in gangs of 8: median ${ms(decision.medianMs)}, ` +
    `p99 ${ms(decision.p99Ms)}, worst ${ms(decision.worstMs)}, ${decision.podsPerSecond} pods/s`,
);
const tell = (lap: Lap): Lap => {
  const { cpuSeconds, host, pods, podsPerSecond, seconds } = lap;
  say(
    `${host.padEnd(11)} ${pods} pods in ${seconds.toFixed(1)} s, ${podsPerSecond} pods/s, ${cpuSeconds.toFixed(1)} CPU s`,
  );
  return lap;
};
const ours = tell(await runLap(await startEmbeddedHost(), options));
if (!process.argv.includes('--alone')) {
  const theirs = tell(await runLap(await startKubernetesHost(), options));
  const rate = (ours.podsPerSecond / theirs.podsPerSecond).toFixed(2);
  say(`ratio       ${rate} by rate, ${(theirs.cpuSeconds / ours.cpuSeconds).toFixed(2)} by processor time`);
}

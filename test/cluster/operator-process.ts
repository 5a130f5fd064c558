/** Replicas of the operator as processes that are started again when they end, and a Service in front of them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { PROGRAM } from './program.ts';

/** A replica that is to end is not asked any more for a moment before it is told so, as by the chart's preStop hook. */
const PRE_STOP_MS = 1000;

export interface OperatorProcess {
  readonly identity: string;
  /** The port of the process that runs now; undefined while none is ready. */
  port(): number | undefined;
  /** What it has written so far, over all its lives. */
  output(): string;
  /** Ends it as a crash would; another life begins. */
  crash(): void;
  /** Holds it as a machine that stands still does, until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends it as a rollout would, no longer asked and then told to stop, and waits; another life begins. */
  rollOver(): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

export function runOperator(kubeconfig: string, identity: string, flags: readonly string[] = []): OperatorProcess {
  let child: ChildProcess;
  let port: number | undefined;
  let text = '';
  let stopping = false;
  let leaving = false;
  let ended: Promise<void>;
  const start = (): void => {
    let life = '';
    const address = ['--host', '127.0.0.1', '--webhook-port', '0', '--metrics-port', '0'];
    const args = ['operator', '--kubeconfig', kubeconfig, '--identity', identity, ...address, ...flags];
    child = spawn(process.execPath, [...PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout?.on('data', (chunk: Buffer) => {
      life += chunk.toString('utf8');
      text += chunk.toString('utf8');
      port = Number(/webhook on port (\d+)/.exec(life)?.[1]) || port;
    });
    child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    ended = new Promise((resolve) => {
      child.once('exit', () => {
        port = undefined;
        resolve();
        setTimeout(() => (stopping ? undefined : start()), 500);
      });
    });
  };
  start();
  return {
    identity,
    port: () => (leaving ? undefined : port),
    output: () => text,
    crash: () => child.kill('SIGKILL'),
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async rollOver() {
      const last = ended;
      leaving = true;
      await new Promise((resolve) => setTimeout(resolve, PRE_STOP_MS));
      child.kill('SIGTERM');
      await last;
      leaving = false;
    },
    async stop() {
      stopping = true;
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export interface Balancer {
  readonly port: number;
  /** Ends the connections that are open, so that clients must open others. */
  cut(): void;
  close(): Promise<void>;
}

/** Hands connections to the replicas in turn, past those that do not answer, as a Service does. */
export async function balance(replicas: readonly Pick<OperatorProcess, 'port'>[]): Promise<Balancer> {
  let turn = 0;
  const open = new Set<Socket>();
  const server: Server = createServer((client) => {
    open.add(client);
    client.once('close', () => open.delete(client));
    client.on('error', () => client.destroy());
    const attempt = (left: number): void => {
      const port = replicas[turn++ % replicas.length]?.port();
      if (left === 0) {
        client.destroy();
        return;
      }
      if (port === undefined) {
        attempt(left - 1);
        return;
      }
      const upstream = connect(port, '127.0.0.1');
      const passOn = (): void => attempt(left - 1);
      upstream.once('error', passOn);
      upstream.once('connect', () => {
        upstream.off('error', passOn);
        upstream.on('error', () => client.destroy());
        // What a replica said last is handed on before the connection ends.
        upstream.once('close', (broken) => (broken ? client.destroy() : client.end()));
        client.pipe(upstream).pipe(client);
      });
      client.once('close', () => upstream.destroy());
    };
    attempt(replicas.length);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    cut,
    close: () =>
      new Promise((resolve) => {
        cut();
        server.close(() => resolve());
      }),
  };
}

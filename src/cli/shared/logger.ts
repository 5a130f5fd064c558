import pino from 'pino';
import type { Logger } from '../../machinery/runtime/index.ts';

const LABELS: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** Logs go to standard error: JSON lines, or one short line each. */
export function createLogger(level: string, format: string): Logger {
  if (format === 'json') return pino({ level, base: null }, pino.destination(2));
  const write = (line: string): void => {
    const { level: number, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
    const details = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
    const error = err === undefined ? '' : ` error=${JSON.stringify((err as { message?: string }).message ?? err)}`;
    const at = new Date(time as number).toISOString();
    process.stderr.write(
      `${at} ${LABELS[number as number] ?? ''} ${String(msg as string)}${details.join('')}${error}\n`,
    );
  };
  return pino({ level, base: null }, { write });
}

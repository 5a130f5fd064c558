/** What a simulated container makes of a command: enough of a shell to try clients of `exec` with. */

export interface EchoContainer {
  readonly pod: string;
  readonly container: string;
  readonly node: string;
  readonly env: readonly { readonly name: string; readonly value?: string | undefined }[];
}

export interface EchoOutcome {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exitCode: number;
}

const KNOWN = ['cat', 'echo', 'env', 'exit', 'false', 'hostname', 'sh', 'sleep', 'true'];
const SHELLS = new Set(['sh', 'bash', 'ash', '/bin/sh', '/bin/bash', '/bin/ash']);

/** Undefined: it gives back what it is sent until there is no more, as `cat` does, or a shell that nobody gave a command. */
export function runEcho([name = '', ...words]: readonly string[], where: EchoContainer): EchoOutcome | undefined {
  const ok = (stdout = ''): EchoOutcome => ({ stdout, exitCode: 0 });
  if (SHELLS.has(name)) {
    const at = words.indexOf('-c');
    return at < 0 ? undefined : runEcho(wordsOf(words[at + 1] ?? ''), where);
  }
  switch (name) {
    case 'cat':
      return undefined;
    case 'echo':
      return ok(`${words.join(' ')}\n`);
    case 'env':
    case 'printenv':
      return ok([`HOSTNAME=${where.pod}`, ...where.env.map((one) => `${one.name}=${one.value ?? ''}`), ''].join('\n'));
    case 'exit':
      return { exitCode: Number(words[0] ?? 0) & 255 };
    case 'false':
      return { exitCode: 1 };
    case 'hostname':
      return ok(`${where.pod}\n`);
    case 'sleep':
    case 'true':
      return ok();
    default: {
      const why = `node ${where.node} is simulated, and its containers know only ${KNOWN.join(', ')}`;
      return { stderr: `${name}: not found: ${why}\n`, exitCode: 127 };
    }
  }
}

/** Words as a shell splits them, with quotes around some. */
function wordsOf(line: string): string[] {
  const found = line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g);
  return [...found].map(([, double, single, bare]) => double?.replace(/\\(.)/g, '$1') ?? single ?? bare ?? '');
}

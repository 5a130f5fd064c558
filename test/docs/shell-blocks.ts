/** The shell commands of a page, as a reader would type them. */

export interface ShellBlock {
  readonly line: number;
  readonly text: string;
  /** Why the block is not run here; the page says so beside it. */
  readonly notRun: string | undefined;
}

/**
 * Blocks fenced as `sh` are run. One that cannot be, for want of a real cluster or because it never ends, is fenced as
 * `sh not-run: <why>`, which readers of the source see too.
 */
export function shellBlocks(markdown: string): ShellBlock[] {
  return [...markdown.matchAll(/^```(sh|bash|shell|console)\b([^\n]*)\n([^]*?)^```/gm)].map((found) => {
    const [, language = '', info = '', text = ''] = found;
    const line = markdown.slice(0, found.index).split('\n').length;
    if (language !== 'sh') throw new Error(`line ${line}: fence shell commands as sh, so that they are run`);
    const mark = /^ not-run: (\S.*)$/.exec(info);
    if (info.trim() !== '' && mark === null) throw new Error(`line ${line}: what is "sh${info}"?`);
    return { line, text: text.trim(), notRun: mark?.[1] };
  });
}

/**
 * The block as a script that stops at the first command that does not end as the page says: `# fails` and `# exits 3`
 * behind a command announce another end than 0.
 */
export function toScript(text: string): string {
  const lines = text.split('\n').map((line) => {
    const found = /^(.*?)\s+# (?:(fails)|exits (\d+))\b.*$/.exec(line);
    if (found === null) return line;
    const [, command = '', fails, code] = found;
    const wanted = fails ? '[ "$ended" != 0 ]' : `[ "$ended" = ${code} ]`;
    return `ended=0; ${command} || ended=$?; ${wanted} || { echo "ended with $ended" >&2; exit 97; }`;
  });
  return ['set -euo pipefail', ...lines].join('\n');
}

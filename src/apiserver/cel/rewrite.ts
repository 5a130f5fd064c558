/**
 * Rewrites what the CEL library does not know or does unsafely, before it parses an expression. Text in quotes is left
 * alone.
 *  - object literals such as `Object{spec: Object.spec{replicas: 3}}` and `JSONPatch{op: "add"}` become map literals:
 *    `{"spec": {"replicas": 3}}`
 *  - `matches`, whose patterns could take forever, becomes a function with the same meaning in linear time
 */
import { SAFE_MATCHES } from './library.ts';

const TYPE_NAMES = new Set(['Object', 'JSONPatch']);
const IDENTIFIER = /[A-Za-z_][\w]*(?:\.[A-Za-z_][\w]*)*/y;
const FIELD = /\s*([A-Za-z_]\w*)\s*:(?!:)/y;

export function rewriteSource(expression: string): string {
  let output = '';
  let at = 0;
  /** For each open brace, whether its keys are field names. */
  const braces: boolean[] = [];
  const field = (): void => {
    FIELD.lastIndex = at;
    const found = FIELD.exec(expression);
    if (found === null) return;
    output += ` ${JSON.stringify(found[1])}:`;
    at = FIELD.lastIndex;
  };
  while (at < expression.length) {
    const char = expression.charAt(at);
    if (char === '"' || char === "'") {
      const end = endOfString(expression, at);
      output += expression.slice(at, end);
      at = end;
      continue;
    }
    IDENTIFIER.lastIndex = at;
    const name = /[A-Za-z_]/.test(char) ? (IDENTIFIER.exec(expression)?.[0] ?? '') : '';
    if (name !== '') {
      const rest = expression.slice(at + name.length);
      const opens = /^\s*\{/.exec(rest);
      if (opens !== null && TYPE_NAMES.has(name.split('.', 1)[0] as string)) {
        output += '{';
        braces.push(true);
        at += name.length + opens[0].length;
        field();
      } else {
        const calls = /^\s*\(/.test(rest);
        output += calls ? name.replace(/(^|\.)matches$/, `$1${SAFE_MATCHES}`) : name;
        at += name.length;
      }
      continue;
    }
    output += char;
    at += 1;
    if (char === '{' || char === '(' || char === '[') braces.push(false);
    else if (char === '}' || char === ')' || char === ']') braces.pop();
    else if (char === ',' && braces.at(-1)) field();
  }
  return output;
}

function endOfString(text: string, start: number): number {
  const quote = text.charAt(start);
  const triple = text.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  for (let at = start + triple.length; at < text.length; at += 1) {
    if (text.charAt(at) === '\\') at += 1;
    else if (text.startsWith(triple, at)) return at + triple.length;
  }
  return text.length;
}

/**
 * Tabs where YAML has none: Go's reader refuses them as indentation on lines that are otherwise blank or comments, too,
 * which the parser here passes over.
 */
import { Lexer } from 'yaml';
import { DecodeError } from '../decode-error.ts';

const SCALAR_FOLLOWS = '\x1f';
const STARTS = new Set(['-', '?']);
const MARKS = new Set(['\x02', '\x18', SCALAR_FOLLOWS]);

/**
 * In block context no tab stands between the start of a line, or a `-` or `?`, and what follows. A line that could go on
 * with the plain text above may have one where it is indented further than the map or list which that text is in.
 */
export function checkTabs(text: string): void {
  if (!text.includes('\t')) return;
  let flow = 0;
  let column = 0;
  /** Of the innermost map or list in block style. */
  let indent = -1;
  let scalarColumn = 0;
  let isPlain = false;
  let before = '\n';
  let next = '';
  for (const lexeme of new Lexer().lex(text)) {
    const isScalar = next === SCALAR_FOLLOWS;
    next = lexeme;
    if (MARKS.has(lexeme)) continue;
    const isBlank = !isScalar && /^[ \t]+$/.test(lexeme);
    if (isBlank) {
      const at = column + lexeme.indexOf('\t');
      if (flow === 0 && lexeme.includes('\t') && isStart(before) && !(before === '\n' && isPlain && at > indent)) {
        throw new DecodeError('yaml: found a tab character that violates indentation');
      }
      // Spaces and tabs come apart: what a run of them follows stays the same.
      column += lexeme.length;
      continue;
    }
    if (!isScalar && lexeme === '\n') {
      column = 0;
      before = '\n';
      continue;
    }
    if (!isScalar) {
      if (lexeme === '{' || lexeme === '[') flow += 1;
      else if ((lexeme === '}' || lexeme === ']') && flow > 0) flow -= 1;
      else if (flow === 0 && lexeme === '-') indent = column;
      else if (flow === 0 && lexeme === ':') indent = scalarColumn;
    }
    if (isScalar || lexeme.startsWith('"') || lexeme.startsWith("'")) scalarColumn = column;
    if (!lexeme.startsWith('#')) isPlain = isScalar;
    before = lexeme;
    const end = lexeme.lastIndexOf('\n');
    column = end < 0 ? column + lexeme.length : lexeme.length - end - 1;
    // A block scalar takes the end of its last line with it.
    if (end === lexeme.length - 1) before = '\n';
  }
}

const isStart = (lexeme: string): boolean => lexeme === '\n' || STARTS.has(lexeme);

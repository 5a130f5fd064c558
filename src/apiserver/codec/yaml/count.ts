/**
 * Refuses YAML that has too much in it, before it is parsed: splitting a text into its lexemes takes a fraction of the
 * time that parsing takes, and ends as soon as there are too many.
 */
import { Lexer } from 'yaml';
import { LIMITS } from '../../exchange/limits.ts';
import { DecodeError, tooManyValues } from '../decode-error.ts';

/** What one value takes at most, as in `{"k": "v",`: a key, a colon, the value itself and a comma. */
const MARKS_OF_VALUE = 4;
/** Spaces, ends of lines and comments included. */
const LEXEMES_OF_VALUE = 10;
/** Marks that mean nothing without a value: a text made of them is malformed, and each would be told of. */
const LOOSE = new Set([',', ']', '}', '&', '!', '%']);
const LOOSE_OF_VALUE = 3;
const LOOSE_AT_LEAST = 1000;
/** The lexer says by this character that a plain or block scalar follows. */
const SCALAR_FOLLOWS = '\x1f';
const BLANK = new Set([' ', '\t', '\n', '\r', '#', '\ufeff', '\x02', '\x18']);

export function checkYamlSize(text: string): void {
  // A mark takes one character at least.
  if (text.length <= LIMITS.bodyValues) return;
  let lexemes = 0;
  let loose = 0;
  let values = 0;
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    lexemes++;
    const first = lexeme[0] ?? ' ';
    if (isScalar || BLANK.has(first)) isScalar = false;
    else if (LOOSE.has(first)) loose++;
    else {
      values++;
      isScalar = lexeme === SCALAR_FOLLOWS;
    }
    const isTooMuch = values + loose > MARKS_OF_VALUE * LIMITS.bodyValues;
    if (isTooMuch || lexemes > LEXEMES_OF_VALUE * LIMITS.bodyValues) throw tooManyValues();
    if (loose > LOOSE_OF_VALUE * values + LOOSE_AT_LEAST) {
      throw new DecodeError('yaml: more commas, brackets, anchors, tags or directives than values');
    }
  }
}

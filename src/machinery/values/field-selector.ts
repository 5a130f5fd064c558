/** `status.phase=Running,spec.nodeName!=n1` as asked in a list or watch. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export class FieldSelectorSyntaxError extends Error {
  override name = 'FieldSelectorSyntaxError';
}

/** Parses a field selector; `\` escapes `\`, `,` and `=` in values. Throws FieldSelectorSyntaxError. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return splitTerms(text)
    .filter((term) => term !== '')
    .map((term) => {
      const found = /^((?:[^\\=!]|\\.)*?)(==|!=|=)([\s\S]*)$/.exec(term);
      if (found === null) {
        throw new FieldSelectorSyntaxError(`invalid selector: '${term}'; can't understand '${term}'`);
      }
      return {
        field: found[1] as string,
        operator: found[2] === '!=' ? '!=' : '=',
        value: unescape(found[3] as string),
      };
    });
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let current = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') {
      current += char + text.charAt(at + 1);
      at += 1;
    } else if (char === ',') {
      terms.push(current);
      current = '';
    } else {
      current += char;
    }
  }
  terms.push(current);
  return terms;
}

function unescape(value: string): string {
  return value.replace(/\\([\s\S])?/g, (_, char: string | undefined) => {
    if (char === '\\' || char === ',' || char === '=') return char;
    throw new FieldSelectorSyntaxError(`invalid field selector: invalid escape sequence in '${value}'`);
  });
}

export function matchesFields(
  requirements: readonly FieldRequirement[],
  fieldOf: (field: string) => string | undefined,
): boolean {
  return requirements.every(({ field, operator, value }) => ((fieldOf(field) ?? '') === value) === (operator === '='));
}

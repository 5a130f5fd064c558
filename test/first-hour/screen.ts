/** What stands on a terminal after a program has written to it. Lines are not broken at its width, so that it is seen. */

const CONTROL =
  /\u001b\[([?\d;]*)([A-Za-z])|\u001b\].*?(?:\u0007|\u001b\\)|\u001b[()][\w]|([\r\n\b])|([^\u001b\r\n\b]+)|\u001b/gs;

export function screenOf(written: string): string[] {
  const screen = new Screen();
  for (const [, parameters = '', command, control, text] of written.matchAll(CONTROL)) {
    if (text !== undefined) screen.write(text);
    else if (control !== undefined) screen.move(control);
    else if (command !== undefined) screen.obey(command, parameters);
  }
  return screen.lines();
}

class Screen {
  #lines: string[] = [''];
  #row = 0;
  #column = 0;

  lines(): string[] {
    const lines = this.#lines.map((line) => line.trimEnd());
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  write(text: string): void {
    const line = (this.#lines[this.#row] ?? '').padEnd(this.#column);
    this.#lines[this.#row] = line.slice(0, this.#column) + text + line.slice(this.#column + text.length);
    this.#column += text.length;
  }

  move(control: string): void {
    if (control === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (control === '\r') this.#column = 0;
    else {
      this.#row += 1;
      this.#lines[this.#row] ??= '';
    }
  }

  obey(command: string, parameters: string): void {
    const [first = 0] = parameters.split(';').map(Number);
    if (command === 'H') this.#go(Math.max(0, first - 1));
    else if (command === 'A') this.#go(Math.max(0, this.#row - (first || 1)));
    else if (command === 'K') this.#clearLine(first);
    else if (command === 'J') this.#clearBelow(first);
    // Another screen begins empty, and so does the one that is returned to.
    else if (parameters === '?1049') this.#clearBelow(2);
  }

  #go(row: number): void {
    this.#row = row;
    this.#column = 0;
    while (this.#lines.length <= row) this.#lines.push('');
  }

  #clearLine(what: number): void {
    const line = this.#lines[this.#row] ?? '';
    this.#lines[this.#row] = what === 2 ? '' : line.slice(0, this.#column);
  }

  #clearBelow(what: number): void {
    if (what === 2) {
      this.#lines = [''];
      this.#go(0);
      return;
    }
    this.#clearLine(0);
    this.#lines.length = this.#row + 1;
  }
}

/** The part of Markdown that our pages are written in, as HTML. Everything else of a page's text is shown as it stands. */

export interface RenderedPage {
  readonly html: string;
  readonly title: string;
  /** Anchors of the headings, in order. */
  readonly anchors: readonly string[];
}

export interface MarkdownOptions {
  /** Where a link or picture leads, given what the page says. */
  readonly resolve: (target: string) => string;
}

export function renderMarkdown(text: string, options: MarkdownOptions): RenderedPage {
  const page = new Page(options);
  const html = page.blocks(text.replaceAll(/<!--[^]*?-->/g, '').split('\n'));
  return { html, title: page.title, anchors: page.anchors };
}

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** As GitHub makes them, so that the same links work there. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

const FENCE = /^\s*```\s*(\S*)/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)(?:[-*]|(\d+)\.)\s+(.*)$/;
const RULER = /^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?$/;

class Page {
  title = '';
  readonly anchors: string[] = [];
  readonly #resolve: MarkdownOptions['resolve'];

  constructor({ resolve }: MarkdownOptions) {
    this.#resolve = resolve;
  }

  blocks(lines: readonly string[]): string {
    const out: string[] = [];
    for (let at = 0; at < lines.length; ) {
      const line = lines[at] ?? '';
      const take = (isIn: (other: string) => boolean): string[] => {
        const from = at;
        while (at < lines.length && isIn(lines[at] ?? '')) at += 1;
        return lines.slice(from, at);
      };
      if (line.trim() === '') at += 1;
      else if (FENCE.test(line)) {
        at += 1;
        const body = take((other) => !FENCE.test(other));
        at += 1;
        out.push(`<pre tabindex="0"><code>${escapeHtml(dedent(body).join('\n'))}</code></pre>`);
      } else if (HEADING.test(line)) {
        out.push(this.#heading(line));
        at += 1;
      } else if (line.startsWith('|') && RULER.test((lines[at + 1] ?? '').trim())) {
        out.push(this.#table(take((other) => other.startsWith('|'))));
      } else if (ITEM.test(line)) {
        out.push(this.#list(take((other) => ITEM.test(other) || /^\s{2,}\S/.test(other) || other.trim() === '')));
      } else if (line.startsWith('>')) {
        const quoted = take((other) => other.startsWith('>')).map((other) => other.replace(/^> ?/, ''));
        out.push(`<blockquote>${this.blocks(quoted)}</blockquote>`);
      } else {
        const text = take(
          (other) => other.trim() !== '' && !FENCE.test(other) && !HEADING.test(other) && !ITEM.test(other),
        );
        out.push(`<p>${this.#inline((text.length > 0 ? text : take(() => true)).join(' '))}</p>`);
      }
    }
    return out.join('\n');
  }

  #heading(line: string): string {
    const [, marks = '', text = ''] = HEADING.exec(line) ?? [];
    const plain = text.replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1');
    const wanted = anchorOf(plain);
    const same = this.anchors.filter((one) => one === wanted || one.replace(/-\d+$/, '') === wanted).length;
    const anchor = same === 0 ? wanted : `${wanted}-${same}`;
    this.anchors.push(anchor);
    if (this.title === '') this.title = plain;
    return `<h${marks.length} id="${anchor}">${this.#inline(text)}</h${marks.length}>`;
  }

  #table(lines: readonly string[]): string {
    const row = (line: string): string[] =>
      line
        .trim()
        .replaceAll(/^\||\|$/g, '')
        .split(/(?<!\\)\|/)
        .map((cell) => this.#inline(cell.trim().replaceAll('\\|', '|')));
    const [head = '', , ...body] = lines;
    const tag = (name: string, cells: string[]): string =>
      `<tr>${cells.map((cell) => `<${name}>${cell}</${name}>`).join('')}</tr>`;
    const rows = body.map((line) => tag('td', row(line))).join('\n');
    return `<div class="wide" tabindex="0"><table><thead>${tag('th', row(head))}</thead><tbody>${rows}</tbody></table></div>`;
  }

  #list(lines: readonly string[]): string {
    const [, indent = '', number] = ITEM.exec(lines[0] ?? '') ?? [];
    const items: string[][] = [];
    for (const line of lines) {
      const [, at, , text = ''] = ITEM.exec(line) ?? [];
      if (at === indent) items.push([text]);
      else items.at(-1)?.push(line);
    }
    const tag = number === undefined ? 'ul' : 'ol';
    const rendered = items.map(([first = '', ...rest]) => {
      const html = this.blocks([first, ...dedent(rest)]);
      return `<li>${html.replace(/^<p>([^]*?)<\/p>/, '$1')}</li>`;
    });
    return `<${tag}>${rendered.join('\n')}</${tag}>`;
  }

  /** Code is put aside first, so that nothing inside it is taken for markup, and may stand inside of links. */
  #inline(text: string): string {
    const codes: string[] = [];
    const aside = text.replaceAll(/(`+)([^]*?[^`])\1(?!`)/g, (_, _ticks: string, code: string) => {
      codes.push(`<code>${escapeHtml(code.replaceAll(/^ (?=`)|(?<=`) $/g, ''))}</code>`);
      return `\u0000${codes.length - 1}\u0000`;
    });
    return escapeHtml(aside)
      .replaceAll(
        /!\[([^\]]*)\]\(([^)\s]+)\)/g,
        (_, alt: string, to: string) => `<img src="${this.#resolve(to)}" alt="${alt}">`,
      )
      .replaceAll(
        /\[([^\]]*)\]\(([^)\s]+)\)/g,
        (_, label: string, to: string) => `<a href="${this.#resolve(to)}">${label}</a>`,
      )
      .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
      .replaceAll(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, '<em>$1</em>')
      .replaceAll(/\u0000(\d+)\u0000/g, (_, index: string) => codes[Number(index)] ?? '');
  }
}

function dedent(lines: readonly string[]): string[] {
  const depths = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const depth = depths.length === 0 ? 0 : Math.min(...depths);
  return lines.map((line) => line.slice(depth));
}

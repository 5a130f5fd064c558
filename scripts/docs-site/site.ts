/** All pages of the project as a site of plain files: no server, and no request to anywhere else. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { escapeHtml, renderMarkdown } from './markdown.ts';

const START = 'docs/README.md';
const SECTIONS: readonly (readonly [title: string, under: string])[] = [
  ['Guides', 'docs/guide/'],
  ['Concepts', 'docs/concepts/'],
  ['Reference', 'docs/reference/'],
  ['Runbooks', 'docs/runbooks/'],
  ['Decisions', 'docs/adr/'],
];

export interface Site {
  /** Text by path inside the site. */
  readonly pages: ReadonlyMap<string, string>;
  /** Files of the project that pages link to, copied as they are. */
  readonly files: ReadonlySet<string>;
  /** Links that lead nowhere: the page, and what it says. */
  readonly dead: readonly string[];
}

interface Source {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly text: string;
  readonly anchors: readonly string[];
  readonly links: readonly string[];
}

const toHtml = (path: string): string => path.replace(/\.md$/, '.html');
const isElsewhere = (target: string): boolean => /^[a-z]+:/.test(target);

export function buildSite(root: string): Site {
  const sources = new Map<string, Source>();
  const files = new Set<string>();
  const dead: string[] = [];
  const waiting = [
    START,
    'docs/troubleshooting.md',
    'docs/compare.md',
    ...SECTIONS.flatMap(([, under]) => pagesIn(root, under)),
  ];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (sources.has(path)) continue;
    const source = readSource(root, path);
    sources.set(path, source);
    for (const link of source.links) {
      const target = posix.join(dirname(path), link.split('#')[0] ?? '');
      const found = join(root, target);
      if (link.startsWith('#')) continue;
      if (!existsSync(found)) dead.push(`${path}: ${link}`);
      else if (statSync(found).isDirectory()) waiting.push(...pagesIn(root, `${target}/`));
      else if (target.endsWith('.md')) waiting.push(target);
      else files.add(target);
    }
  }
  dead.push(...deadAnchors(sources));
  const menu = [...sources.values()];
  const pages = new Map([...sources.values()].map((source) => [toHtml(source.path), wrapPage(source, menu)]));
  pages.set(
    'index.html',
    `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${toHtml(START)}">`,
  );
  pages.set('site.css', readFileSync(join(import.meta.dirname, 'site.css'), 'utf8'));
  pages.set('search.js', readFileSync(join(import.meta.dirname, 'search.js'), 'utf8'));
  const index = menu.map(({ path, text, title }) => ({ path: toHtml(path), title, text }));
  pages.set('pages.js', `window.PAGES = ${JSON.stringify(index)};\n`);
  return { pages, files, dead };
}

function pagesIn(root: string, under: string): string[] {
  return readdirSync(join(root, under))
    .filter((name) => name.endsWith('.md') && name !== '0000-template.md')
    .sort()
    .map((name) => posix.join(under, name));
}

function readSource(root: string, path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const links: string[] = [];
  const resolve = (target: string): string => {
    if (isElsewhere(target)) return target;
    links.push(target);
    const [file = '', anchor] = target.split('#');
    const full = join(root, dirname(path), file);
    const isFolder = file !== '' && existsSync(full) && statSync(full).isDirectory();
    const [first] = isFolder ? pagesIn(root, `${posix.join(dirname(path), file)}/`) : [];
    const to = first === undefined ? toHtml(file) : toHtml(posix.relative(dirname(path), first));
    return anchor === undefined ? to : `${to}#${anchor}`;
  };
  const { anchors, html, title } = renderMarkdown(text, { resolve });
  const plain = html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"');
  return { path, html, title, anchors, links, text: plain.replaceAll('&amp;', '&').replaceAll(/\s+/g, ' ').trim() };
}

function deadAnchors(sources: ReadonlyMap<string, Source>): string[] {
  return [...sources.values()].flatMap(({ anchors, links, path }) =>
    links
      .filter((link) => {
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? { anchors } : sources.get(posix.join(dirname(path), file));
        return anchor !== undefined && target !== undefined && !target.anchors.includes(anchor);
      })
      .map((link) => `${path}: ${link}`),
  );
}

function wrapPage({ html, path, title }: Source, all: readonly Source[]): string {
  const up = relative(dirname(path), '.') || '.';
  const entry = ({ path: to, title: name }: Source): string =>
    `<li><a href="${posix.join(up, toHtml(to))}"${to === path ? ' aria-current="page"' : ''}>${escapeHtml(name)}</a></li>`;
  const sections = SECTIONS.map(([name, under]) => {
    const inside = all.filter((one) => one.path.startsWith(under));
    const open = path.startsWith(under) || (name === 'Guides' && !path.startsWith('docs/')) ? ' open' : '';
    return `<details${open}><summary>${name}</summary><ul>${inside.map(entry).join('')}</ul></details>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Quorate</title>
<link rel="stylesheet" href="${posix.join(up, 'site.css')}">
</head>
<body data-up="${up}">
<header>
<a class="home" href="${posix.join(up, toHtml(START))}">Quorate</a>
<label>Search <input id="search" type="search" autocomplete="off" placeholder="press / to search"></label>
<ol id="found" aria-live="polite"></ol>
</header>
<div class="columns">
<nav aria-label="Pages">${sections.join('\n')}</nav>
<main>
${html}
</main>
</div>
<script src="${posix.join(up, 'pages.js')}" defer></script>
<script src="${posix.join(up, 'search.js')}" defer></script>
</body>
</html>
`;
}

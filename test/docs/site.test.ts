import { existsSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { anchorOf, renderMarkdown } from '../../scripts/docs-site/markdown.ts';
import { buildSite } from '../../scripts/docs-site/site.ts';

const root = join(import.meta.dirname, '..', '..');
const site = buildSite(root);
const html = [...site.pages].filter(([path]) => path.endsWith('.html'));

test('22.3: no link of the documentation leads nowhere, neither to a file nor to a heading', () => {
  expect(html.length).toBeGreaterThan(60);
  expect(site.dead).toEqual([]);
});

test('22.3: every link of the site leads to a file of the site', () => {
  const missing = html.flatMap(([page, text]) =>
    [...text.matchAll(/(?:href|src)="([^"#]+)(?:#[^"]*)?"/g)]
      .map(([, to = '']) => to)
      .filter((to) => !/^[a-z]+:/.test(to))
      .map((to) => join(page, '..', to))
      .filter((path) => !site.pages.has(path) && !site.files.has(path))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
  expect([...site.files].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('22.3: the site asks nobody else for anything', () => {
  for (const [, text] of html)
    expect(text).not.toMatch(/<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:[a-z]+:)?\/\//);
  expect(site.pages.get('search.js')).not.toMatch(/https?:|fetch\(|XMLHttpRequest/);
  expect(site.pages.get('site.css')).not.toMatch(/url\(|@import/);
});

test('22.3: the index of the search holds the text of every page', () => {
  const scope: { window: { PAGES?: { path: string; title: string; text: string }[] } } = { window: {} };
  vm.runInNewContext(site.pages.get('pages.js') ?? '', scope);
  const found = scope.window.PAGES?.find(({ path }) => path === 'docs/guide/testkit.html');
  expect(found?.title).toBe('A Kubernetes API for your tests');
  expect(found?.text).toContain('plane.faults makes requests go wrong for everybody but');
  expect(scope.window.PAGES?.length).toBe(html.length - 1);
});

const render = (text: string): string => renderMarkdown(text, { resolve: (to) => to.replace('.md', '.html') }).html;

const cases: readonly (readonly [name: string, given: string, want: string])[] = [
  ['escapes what is HTML', 'a <b> & `<c>`', '<p>a &lt;b&gt; &amp; <code>&lt;c&gt;</code></p>'],
  ['takes code inside a link', '[`x`](y.md#z)', '<p><a href="y.html#z"><code>x</code></a></p>'],
  ['leaves markup in code alone', '`**a** [b](c)`', '<p><code>**a** [b](c)</code></p>'],
  ['marks words', '**a** and *b*, 2 * 3 * 4', '<p><strong>a</strong> and <em>b</em>, 2 * 3 * 4</p>'],
  ['nests lists', '- a\n  b\n  - c\n- d', '<ul><li>a b\n<ul><li>c</li></ul></li>\n<li>d</li></ul>'],
  ['numbers lists', '1. a\n2. b', '<ol><li>a</li>\n<li>b</li></ol>'],
  [
    'ends a fence where it ends',
    '```sh not-run: x\na < b\n```\nc',
    '<pre tabindex="0"><code>a &lt; b</code></pre>\n<p>c</p>',
  ],
  ['leaves comments out', '<!-- a\nb -->\nc', '<p>c</p>'],
];

for (const [name, given, want] of cases) {
  test(`renderMarkdown() ${name}`, () => expect(render(given)).toBe(want));
}

test('renderMarkdown() makes tables, with a bar inside a cell', () => {
  expect(render('| a | b |\n|---|---|\n| 1 \\| 2 | `c` |')).toContain('<tr><td>1 | 2</td><td><code>c</code></td></tr>');
});

test('anchorOf() is what GitHub makes of a heading', () => {
  expect(anchorOf('When it does not work: `429`, or worse')).toBe('when-it-does-not-work-429-or-worse');
});

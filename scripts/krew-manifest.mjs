/** Prints the manifest by which krew installs `kubectl quorate`, over the archives in a folder: see scripts/release.sh. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '.';
const { description, homepage, version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'),
);
const releases = 'https://github.com/quorate-dev/quorate/releases/download';
const archives = readdirSync(folder)
  .filter((name) => name.startsWith(`kubectl-quorate-${version}-`))
  .sort();

const lines = [
  'apiVersion: krew.googlecontainertools.github.com/v1alpha2',
  'kind: Plugin',
  'metadata:',
  '  name: quorate',
  'spec:',
  `  version: v${version}`,
  `  homepage: ${homepage}`,
  '  shortDescription: Drain and explain budgets by groups of pods',
  '  description: |',
  `    ${description}`,
  '  caveats: |',
  '    Needs Node.js 20.19 or newer on the path.',
  '  platforms:',
];
for (const name of archives) {
  const [, os, cpu] = /-(\w+)-(\w+)\.tar\.gz$/.exec(name);
  lines.push(
    '    - selector:',
    '        matchLabels:',
    `          os: ${os}`,
    `          arch: ${cpu === 'x64' ? 'amd64' : cpu}`,
    `      uri: ${releases}/v${version}/${name}`,
    `      sha256: ${createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')}`,
    '      bin: kubectl-quorate',
  );
}
process.stdout.write(`${lines.join('\n')}\n`);

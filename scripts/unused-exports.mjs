/**
 * `npm run unused`: names that a file of src exports and nobody imports. A name that its own file uses may stay exported,
 * as types of signatures are. What the package offers (`exports` in package.json) is used by definition.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const doors = new Set(
  Object.values(manifest.exports).map((path) => path.replace('./dist/', 'src/').replace(/\.js$/, '.ts')),
);
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', 'src', 'test', 'bench', 'scripts', 'examples'],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter((path) => /\.(tsx?|mjs)$/.test(path) && existsSync(path));
const isChecked = (path) =>
  /^src\/.*\.tsx?$/.test(path) && !/generated|\.(test|contract|fixture)\.ts$/.test(path) && !doors.has(path);

/** Names by the file they are imported from, and files imported as a whole. */
const imported = new Map(files.map((path) => [path, new Set()]));
const whole = new Set(doors);
const exported = [];
const passedOn = [];
const allPassedOn = [];

const IMPORT = /^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from '(\.[^']+)'/gm;
const WHOLE = /(?:\* as \w+ from |^import |import\(\s*|new URL\()'(\.[^']+)'/gm;
/** Passes on all names of a file: each is used where somebody imports it from here. */
const ALL = /^export \* from '(\.[^']+)'/gm;
const DECLARED = /^export (?:abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

for (const path of files) {
  const text = readFileSync(path, 'utf8');
  const resolve = (specifier) => normalize(join(dirname(path), specifier));
  for (const [statement, list, from] of text.matchAll(IMPORT)) {
    for (const entry of list.split(',').map((part) => part.trim().replace(/^type /, ''))) {
      if (entry === '') continue;
      const [name, as = name] = entry.split(' as ');
      if (statement.startsWith('import')) imported.get(resolve(from))?.add(name);
      else {
        passedOn.push({ path, as, from: resolve(from), name });
        if (isChecked(path)) exported.push({ path, name: as, ownUses: 0 });
      }
    }
  }
  for (const [, from] of text.matchAll(WHOLE)) whole.add(resolve(from));
  for (const [, from] of text.matchAll(ALL)) allPassedOn.push({ path, from: resolve(from) });
  if (!isChecked(path)) continue;
  for (const [, name] of text.matchAll(DECLARED)) {
    exported.push({ path, name, ownUses: text.match(new RegExp(`\\b${name}\\b`, 'g')).length - 1 });
  }
}

const isUsed = (path, name) => whole.has(path) || imported.get(path)?.has(name);
for (let grows = true; grows; ) {
  grows = false;
  for (const { path, as, from, name } of passedOn) {
    const names = imported.get(from);
    if (names === undefined || !isUsed(path, as) || isUsed(from, name)) continue;
    names.add(name);
    grows = true;
  }
  for (const { path, from } of allPassedOn) {
    const size = whole.size + (imported.get(from)?.size ?? 0);
    if (whole.has(path)) whole.add(from);
    for (const name of imported.get(path) ?? []) imported.get(from)?.add(name);
    if (whole.size + (imported.get(from)?.size ?? 0) > size) grows = true;
  }
}

const unused = exported.filter(({ path, name, ownUses }) => ownUses === 0 && !isUsed(path, name));
for (const { path, name } of unused) console.error(`${path}: nobody imports ${name}`);
if (unused.length > 0) process.exitCode = 1;

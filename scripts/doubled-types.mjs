/**
 * Part of `npm run unused`: types and classes that two files of src export under one name. A word that means two things makes
 * readers open both files. Tests, fixtures and generated types are left out.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const files = execFileSync('git', ['ls-files', 'src'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path) && existsSync(path))
  .filter((path) => !/generated|\.(test|contract|fixture)\.tsx?$|fixtures\.ts$|^src\/testkit\//.test(path));
const DECLARED = /^export (?:abstract )?(?:class|interface|type|enum) (\w+)/gm;

const places = new Map();
for (const path of files) {
  for (const [, name] of readFileSync(path, 'utf8').matchAll(DECLARED)) {
    places.set(name, [...(places.get(name) ?? []), path]);
  }
}
const doubled = [...places].filter(([, paths]) => paths.length > 1);
for (const [name, paths] of doubled) console.error(`${name} means more than one thing: ${paths.join(', ')}`);
process.exitCode = doubled.length > 0 ? 1 : 0;

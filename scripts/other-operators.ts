/**
 * `npm run test:other-operators`: downloads the definitions that other operators publish, in the versions that
 * scripts/operators/sources.ts pins, and applies the budgets of docs/guide/other-operators.md beside objects of the real
 * kinds. Fails where the small form kept in test/docs/operators/published.json is not what was published; `--write`
 * writes it. Needs Go and a network.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { budgetsOfThePage, type PublishedShape, tryBudget } from '../test/docs/operators/budgets.ts';
import { samples } from '../test/docs/operators/samples.ts';
import { pruneSchema } from './operators/prune.ts';
import { type Definition, type Published, readOperator } from './operators/read.ts';
import { type OperatorSource, SOURCES } from './operators/sources.ts';

const FILE = join(import.meta.dirname, '..', 'test', 'docs', 'operators', 'published.json');

function shapeOf(name: string, { module, version }: OperatorSource, published: Published): PublishedShape {
  const { definition, labels } = published;
  const { spec } = definition;
  const [stored] = spec.versions;
  const sample = samples[name]?.(0);
  if (stored === undefined || sample === undefined) throw new Error(`No version or no sample of ${name}`);
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...rest } = sample;
  const { properties = {} } = stored.schema.openAPIV3Schema;
  const used = { metadata: { type: 'object' }, ...pruneSchema({ type: 'object', properties }, rest).properties };
  const { kind, plural } = spec.names;
  return {
    module,
    version,
    group: spec.group,
    apiVersion: stored.name,
    kind,
    plural,
    scale: stored.subresources?.scale !== undefined,
    labels,
    schema: { type: 'object', properties: used },
  };
}

const real = Object.entries(SOURCES).map(([name, source]) => ({ name, source, published: readOperator(source) }));
const shapes = Object.fromEntries(real.map(({ name, published, source }) => [name, shapeOf(name, source, published)]));
const text = `${JSON.stringify(shapes, null, 2)}\n`;
if (process.argv.includes('--write')) writeFileSync(FILE, text);
else if (JSON.stringify(JSON.parse(readFileSync(FILE, 'utf8'))) !== JSON.stringify(shapes)) {
  throw new Error('test/docs/operators/published.json is not what is published: look, then write it with --write');
}
for (const { name, published, source } of real) {
  await tryBudget(name, budgetsOfThePage().get(name) ?? '', withoutConversion(published.definition));
  process.stdout.write(`ok ${name}, with the definition of ${source.module} ${source.version}\n`);
}

function withoutConversion(definition: Definition): Definition {
  const versions = definition.spec.versions.map((version) => ({ ...version, served: true }));
  return { ...definition, spec: { ...definition.spec, versions } };
}

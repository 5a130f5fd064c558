/** The budgets of the page for people who run other operators, tried on a control plane that serves their kinds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import {
  apply,
  expectEvicted,
  expectRefused,
  type KubeObject,
  pod,
  setReady,
  startControlPlane,
} from '../../../src/testkit/index.ts';
import { marks, samples, SIZE } from './samples.ts';

const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'guide', 'other-operators.md');

/** The part of a published kind that a sample uses, and the labels of its operator by the names of their constants. */
export interface PublishedShape {
  readonly module: string;
  readonly version: string;
  readonly group: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Whether the kind has the subresource that a budget with `maxUnavailable` asks for. */
  readonly scale: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly schema: object;
}

/** By the name of the budget. */
export function budgetsOfThePage(): ReadonlyMap<string, string> {
  const blocks = readFileSync(PAGE, 'utf8').matchAll(/^```yaml budget\n([^]*?)^```/gm);
  return new Map([...blocks].map(([, text = '']) => [/^ {2}name: (\S+)$/m.exec(text)?.[1] ?? '', text]));
}

export function definitionOf({ apiVersion, group, kind, plural, scale, schema }: PublishedShape): object {
  const subresources = {
    status: {},
    ...(scale && { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } }),
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: apiVersion, served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources }],
    },
  };
}

/** Two groups of pods as the operator makes them for its objects: the first goes as a whole, then the second is kept. */
export async function tryBudget(name: string, budget: string, definition: object): Promise<void> {
  const plane = await startControlPlane({ controllers: [createDisruptionController()] });
  try {
    // This one is served by every control plane of ours.
    if (name !== 'leaderworkerset') await apply(plane, [definition as KubeObject]);
    for (const group of [0, 1]) await apply(plane, [sampleOf(name, group)]);
    await apply(plane, budget);
    const pods = [0, 1].flatMap((group) => Array.from({ length: SIZE }, (_, at) => member(name, group, at)));
    await apply(plane, pods);
    for (const one of pods) await setReady(plane, one);
    await plane.settle();

    for (let at = 0; at < SIZE; at += 1) await expectEvicted(plane, `${name}-0-${at}`);
    await expectRefused(plane, `${name}-1-0`, 'counts pod groups: 1 of 2 expected healthy, 1 needed');
  } finally {
    await plane.stop();
  }
}

function sampleOf(name: string, group: number): KubeObject {
  const sample = samples[name]?.(group);
  if (sample === undefined) throw new Error(`No sample of ${name}`);
  return sample;
}

function member(name: string, group: number, at: number): KubeObject {
  const marked = marks[name]?.(group, at);
  if (marked === undefined) throw new Error(`No shape of the pods of ${name}`);
  const made = pod({ name: `${name}-${group}-${at}`, labels: marked.labels, spec: { nodeName: `node-${group}` } });
  return {
    ...made,
    metadata: { ...made.metadata, ownerReferences: [{ ...marked.owner, uid: `${name}-${group}`, controller: true }] },
  } as KubeObject;
}

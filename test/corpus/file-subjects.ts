/** Files that people hand us: kubeconfigs, plans, snapshots. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { contextNames, KubeconfigError, loadKubeconfig } from '../../src/machinery/runtime/kubeconfig.ts';
import { DocumentError } from '../../src/tasks/documents/read-document.ts';
import { readPlanFile } from '../../src/tasks/plan/plan-file.ts';
import { readSnapshot } from '../../src/tasks/snapshot/snapshot.ts';
import { Broken, refusalOr, shapeOf, type Subject } from './subject.ts';

type Refusal = abstract new (...given: never[]) => Error;

interface Reader {
  readonly name: string;
  readonly refusal: Refusal;
  readonly words: readonly string[];
  /** What was read, and whether written as JSON it is read as the same. */
  readonly read: (file: string) => { readonly value: unknown; readonly isDocument: boolean };
}

function fileSubject({ name, read, refusal, words }: Reader): Subject {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-corpus-'));
  const file = join(folder, 'file');
  return {
    name,
    weight: 2,
    words,
    attempt(input) {
      writeFileSync(file, input);
      return refusalOr([refusal], Buffer.concat([input, Buffer.from(file)]), () => {
        const { isDocument, value } = read(file);
        if (isDocument) {
          writeFileSync(file, JSON.stringify(value));
          const again = read(file).value;
          if (!isDeepStrictEqual(again, JSON.parse(JSON.stringify(value))))
            throw new Broken('written, it is read as another');
        }
        return shapeOf(value);
      });
    },
    stop: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  };
}

const DOCUMENT = [
  '"format":',
  '"version":1',
  '"objects":[]',
  '"nodes":[]',
  '"plan":{"steps":[]}',
  '"pods":{}',
  'null',
  '{}',
  '[]',
  ': ',
  '- ',
  '&a ',
  '*a',
  '\n',
];

export const files = (): readonly Subject[] => [
  fileSubject({
    name: 'kubeconfigs',
    refusal: KubeconfigError,
    words: [
      'clusters:',
      'users:',
      'contexts:',
      'current-context: ',
      'server: ',
      'https://',
      'certificate-authority-data: ',
      'token: ',
      'exec:',
      'proxy-url: ',
      'null',
      '{}',
      '[]',
      '- ',
      '  ',
      '\n',
      '&a ',
      '*a',
      'name: ',
    ],
    read: (file) => ({
      value: [loadKubeconfig({ path: file, env: {} }), contextNames({ path: file, env: {} })],
      isDocument: false,
    }),
  }),
  fileSubject({
    name: 'plans',
    refusal: DocumentError,
    words: [...DOCUMENT, '"version":2'],
    read: (file) => ({ value: readPlanFile(file), isDocument: true }),
  }),
  fileSubject({
    name: 'snapshots',
    refusal: DocumentError,
    words: DOCUMENT,
    read: (file) => ({ value: readSnapshot(file), isDocument: true }),
  }),
];

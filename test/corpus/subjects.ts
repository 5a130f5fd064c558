import { files } from './file-subjects.ts';
import { patches } from './patch-subjects.ts';
import { httpSubject } from './http-subject.ts';
import type { Subject } from './subject.ts';
import { body, cel, fieldSelectors, json, protobuf, selectors, yaml } from './text-subjects.ts';

/** Everything that is tried. */
export const openSubjects = async (): Promise<readonly Subject[]> => [
  json,
  yaml,
  protobuf,
  body,
  selectors,
  fieldSelectors,
  cel,
  ...patches,
  ...files(),
  await httpSubject(),
];

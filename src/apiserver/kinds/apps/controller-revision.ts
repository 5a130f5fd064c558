import { validateControllerRevision, validateControllerRevisionUpdate } from '../../../api/apps/index.ts';
import { controllerOf } from '../../../api/core/owner.ts';
import type { ControllerRevision } from '../../../api/generated/apps-v1.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { ageColumn, nameColumn, NONE, since, text } from '../columns.ts';

const asRevision = (object: ApiObject): ControllerRevision => object as unknown as ControllerRevision;

export const controllerRevisionStrategy: Strategy = {
  validate: (object) => validateControllerRevision(asRevision(object)),
  validateUpdate: (object, old) => validateControllerRevisionUpdate(asRevision(object), asRevision(old)),
  table: {
    columns: [
      nameColumn,
      text('Controller', 0, 'What it is a revision of'),
      text('Revision', 0, 'Its place among the others'),
      ageColumn,
    ],
    cells(object, now) {
      const revision = asRevision(object);
      const owner = controllerOf(revision);
      return [
        object.metadata.name ?? '',
        owner === undefined ? NONE : `${kindName(owner.kind, owner.apiVersion)}/${owner.name}`,
        String(revision.revision),
        since(object.metadata.creationTimestamp, now),
      ];
    },
  },
};

/** `daemonset.apps`, as kubectl names kinds. */
function kindName(kind: string, apiVersion: string): string {
  const [group, version] = apiVersion.split('/');
  return version === undefined ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}

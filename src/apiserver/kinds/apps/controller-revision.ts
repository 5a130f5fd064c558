import { validateControllerRevision, validateControllerRevisionUpdate } from '../../../api/apps/index.ts';
import { controllerOf } from '../../../api/core/owner.ts';
import type { ControllerRevision } from '../../../api/generated/apps-v1.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { ageColumn, nameColumn, NONE, since, text } from '../columns.ts';

export const controllerRevisionStrategy = strategyOf<ControllerRevision>({
  validate: (object) => validateControllerRevision(object),
  validateUpdate: (object, old) => validateControllerRevisionUpdate(object, old),
  table: {
    columns: [
      nameColumn,
      text('Controller', 0, 'What it is a revision of'),
      text('Revision', 0, 'Its place among the others'),
      ageColumn,
    ],
    cells(object, now) {
      const owner = controllerOf(object);
      return [
        object.metadata.name ?? '',
        owner === undefined ? NONE : `${kindName(owner.kind, owner.apiVersion)}/${owner.name}`,
        String(object.revision),
        since(object.metadata.creationTimestamp, now),
      ];
    },
  },
});

/** `daemonset.apps`, as kubectl names kinds. */
function kindName(kind: string, apiVersion: string): string {
  const [group, version] = apiVersion.split('/');
  return version === undefined ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}

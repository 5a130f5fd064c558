import { validateControllerRevision, validateControllerRevisionUpdate } from '../../../api/apps/index.ts';
import { controllerOf } from '../../../api/core/owner.ts';
import type { ControllerRevision } from '../../../api/generated/apps-v1.ts';
import { ageColumn, nameColumn, NONE, table, text } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

export const controllerRevisionStrategy = strategyOf<ControllerRevision>({
  validate: (object) => validateControllerRevision(object),
  validateUpdate: (object, old) => validateControllerRevisionUpdate(object, old),
  table: table([
    nameColumn,
    text('Controller', 'What it is a revision of', (object) => {
      const owner = controllerOf(object);
      return owner === undefined ? NONE : `${kindName(owner.kind, owner.apiVersion)}/${owner.name}`;
    }),
    text('Revision', 'Its place among the others', ({ revision }) => String(revision)),
    ageColumn,
  ]),
});

/** `daemonset.apps`, as kubectl names kinds. */
function kindName(kind: string, apiVersion: string): string {
  const [group, version] = apiVersion.split('/');
  return version === undefined ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}

import { expect, test } from 'vitest';
import { nodeStrategy } from './node.ts';

test('kubectl get nodes -o wide has the columns of kubectl', () => {
  expect(nodeStrategy.table?.columns.map(({ name }) => name)).toEqual([
    'Name',
    'Status',
    'Roles',
    'Age',
    'Version',
    'Internal-IP',
    'External-IP',
    'OS-Image',
    'Kernel-Version',
    'Container-Runtime',
  ]);
});

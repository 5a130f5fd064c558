/** Takes pods out of service and back, as a failing readiness probe does. */
import { NOT_READY_ANNOTATION } from '../../../src/nodes/index.ts';
import type { StoryHost } from './host.ts';

export async function setReady(host: StoryHost, namespace: string, ready: boolean, ...names: string[]): Promise<void> {
  const { kubectl } = host;
  await kubectl.run([
    'annotate',
    'pod',
    ...names,
    '-n',
    namespace,
    ready ? `${NOT_READY_ANNOTATION}-` : `${NOT_READY_ANNOTATION}=true`,
  ]);
  const wanted = `--for=condition=Ready=${ready}`;
  await kubectl.run(['wait', 'pod', ...names, '-n', namespace, wanted, '--timeout=120s']);
}

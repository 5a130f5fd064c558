import { type Answer, tellAnswer, Cluster, fitsGroup, podFacts } from '../../src/decisions/placement/index.ts';
import { DEVICES, GROUP_NAME, type Scene } from './scene.ts';

/** Our answer: the whole cluster first, then what goes is taken out, as a plan does it. */
export function askOurs(scene: Scene, level: '1.36' | '1.37'): Answer {
  const cluster = buildCluster(scene, level);
  for (const name of scene.gone.nodes) cluster.removeNode(name);
  for (const { metadata, spec } of scene.placed) {
    const name = metadata.name ?? '';
    if (scene.gone.pods.has(name) || scene.gone.nodes.has(spec?.nodeName ?? '')) cluster.remove(`${scene.id}/${name}`);
  }
  const { asked, group, need } = scene;
  const key = group?.topologyKey;
  return fitsGroup(
    {
      unit: GROUP_NAME,
      pods: asked.map((pod) => podFacts(pod, cluster.resources, group && GROUP_NAME)),
      need: need === asked.length ? 'all' : need,
      apart: group?.policy === 'basic',
      ...(key !== undefined && { topology: [{ key, mode: 'Required' as const }] }),
    },
    cluster,
  );
}

function buildCluster(scene: Scene, level: '1.36' | '1.37'): Cluster {
  const cluster = new Cluster({ level });
  for (const node of scene.nodes) cluster.setNode(node);
  cluster.namespaceLabels.set(scene.id, {});
  cluster.volumes.known = true;
  for (const claim of scene.claims) cluster.volumes.setClaim(claim);
  for (const volume of scene.volumes) cluster.volumes.setVolume(volume);
  cluster.devices.known = true;
  for (const one of scene.classes) cluster.devices.setClass(one);
  if (scene.devices !== undefined) cluster.devices.setTemplate(scene.id, DEVICES, scene.devices);
  for (const slice of scene.slices) cluster.devices.addSlice(slice);
  for (const pod of scene.placed) cluster.place(podFacts(pod, cluster.resources), pod.spec?.nodeName ?? '');
  return cluster;
}

/** One line that says what we think and why. */
export function tell(answer: Answer): string {
  if (answer.fits === 'Yes') return `Yes (${answer.proof})`;
  return `${answer.fits} (${answer.fits === 'No' ? answer.proof : answer.because.reason}) ${tellAnswer(answer)}`;
}

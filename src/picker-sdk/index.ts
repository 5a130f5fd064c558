/**
 * For services that decide which pods a downscale removes (`spec.downscalePodPicker`):
 *
 *     createPodPicker(({ candidates, count }) => leastFirst(candidates, count, (pod) => sessions.get(pod)))
 *       .listen({ port: 8080 });
 */
export { leastFirst } from './least-first.ts';
export type { ListenOptions } from '../sdk-server/index.ts';
export { createPodPicker, type ListeningPicker, type PodPicker, type PodPickerOptions } from './server.ts';
export type { Pick, PickAnswer, PickRequest } from './types.ts';

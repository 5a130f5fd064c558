/** Removes the workers with the least to do. In a project of your own, import from 'quorate/picker'. */
import { createPodPicker, leastFirst } from '../../src/picker-sdk/index.ts';
import { auth, type Report, serve } from './reports.ts';

const reports = new Map<string, Report>();

const picker = createPodPicker(
  ({ candidates, count }) => leastFirst(candidates, count, (pod) => reports.get(pod)?.load),
  auth(),
);

serve(picker.handler, reports);

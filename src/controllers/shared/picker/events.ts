import type { KubeObject } from '../../../api/resource.ts';
import type { EventRecorder } from '../../../machinery/runtime/index.ts';
import type { Consultation } from './consult.ts';
import { FAILURE_CODE } from './protocol.ts';

/** Says how asking the picker failed: class, status code and attempts, never what it sent. */
export function pickerFailed(
  events: EventRecorder,
  owner: KubeObject,
  { attempts, reason, status }: Extract<Consultation, { ok: false }>,
): void {
  const code = status === undefined ? '' : ` (HTTP status ${status})`;
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  events.record(
    owner,
    'Warning',
    'DownscalePodPickerFailed',
    `Pod picker gave no usable answer: ${reason} [${FAILURE_CODE[reason]}]${code} after ${tries}; pods are removed without its choice`,
  );
}

export function pickerNamedOthers(events: EventRecorder, owner: KubeObject, ignoredNames: number): void {
  events.record(
    owner,
    'Warning',
    'DownscalePodPickerInvalidPods',
    `Pod picker named ${ignoredNames} ${ignoredNames === 1 ? 'pod' : 'pods'} that it was not asked about; ignored`,
  );
}

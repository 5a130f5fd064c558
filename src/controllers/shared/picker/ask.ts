import type { DownscalePodPicker } from '../../../api/generated/apps-v1.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { type PickerQuestion, type PickerReading, readPickerAnswer } from '../../../decisions/downscale/index.ts';
import type { EventRecorder } from '../../../machinery/runtime/index.ts';
import { type ConsultOptions, consultPicker } from './consult.ts';
import { pickerFailed, pickerNamedOthers } from './events.ts';

export interface PickerConcern {
  /** The ReplicaSet that shrinks; events are about it, and secrets are read in its namespace. */
  readonly owner: KubeObject;
  readonly picker: DownscalePodPicker;
  readonly question: PickerQuestion;
}

export interface AskPickerOptions extends ConsultOptions {
  readonly events: EventRecorder;
}

/** Asks, reads the answer, and reports what was wrong with it. Undefined when there was no usable answer. */
export async function askPicker(
  { owner, picker, question }: PickerConcern,
  options: AskPickerOptions,
): Promise<PickerReading | undefined> {
  const { events, metrics } = options;
  const outcome = await consultPicker({ namespace: owner.metadata.namespace ?? '', picker, question }, options);
  if (!outcome.ok) {
    pickerFailed(events, owner, outcome);
    return undefined;
  }
  const reading = readPickerAnswer(question, outcome.answer);
  if (reading.ignoredNames > 0) {
    metrics.counter('quorate_downscale_picker_ignored_names_total').inc(reading.ignoredNames);
    pickerNamedOthers(events, owner, reading.ignoredNames);
  }
  return reading;
}

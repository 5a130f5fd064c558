import {
  type DownscalePodPickerObject,
  downscalePodPickerWarnings,
  validateDownscalePodPicker,
} from '../api/quorate/downscale-pod-picker.ts';
import { formatIssues } from '../machinery/values/index.ts';
import { LONGEST_PICKER_SECONDS } from './downscale.ts';
import { refuse, type ReviewRequest, type ReviewResponse } from './review.ts';

/** Checks DownscalePodPickers as they are written, with what a schema cannot say. */
export function reviewPicker(
  pickersIn: (namespace: string) => readonly DownscalePodPickerObject[],
  request: ReviewRequest,
): ReviewResponse {
  const object = request.object as unknown as DownscalePodPickerObject;
  const issues = validateDownscalePodPicker(object, pickersIn(request.namespace ?? ''));
  if (issues.length === 0) {
    return { allowed: true, warnings: downscalePodPickerWarnings(object, LONGEST_PICKER_SECONDS) };
  }
  const causes = issues.map(({ message, path, rule }) => ({ reason: rule, message, field: path }));
  return refuse({ code: 422, reason: 'Invalid', message: formatIssues(issues), details: { causes } });
}

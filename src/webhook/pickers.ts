import {
  type DownscalePodPickerObject,
  downscalePodPickerWarnings,
  validateDownscalePodPicker,
} from '../api/quorate/downscale-pod-picker.ts';
import { LONGEST_PICKER_SECONDS } from './downscale.ts';
import { refuseInvalid, type ReviewRequest, type ReviewResponse } from './review.ts';

/** Checks DownscalePodPickers as they are written, with what a schema cannot say. */
export function reviewPicker(
  pickersIn: (namespace: string) => readonly DownscalePodPickerObject[],
  request: ReviewRequest,
): ReviewResponse {
  const object = request.object as DownscalePodPickerObject;
  const issues = validateDownscalePodPicker(object, pickersIn(request.namespace ?? ''));
  if (issues.length === 0) {
    return { allowed: true, warnings: downscalePodPickerWarnings(object, LONGEST_PICKER_SECONDS) };
  }
  return refuseInvalid(issues);
}

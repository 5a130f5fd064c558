import { readFileSync } from 'node:fs';
import type { PickerOptions } from '../../app/index.ts';

/** Where pod pickers may live and whose certificates they may show, as `quorate up` and `quorate operator` are told. */
export interface PickerFlags {
  readonly pickerAllow?: string[];
  readonly pickerDeny?: string[];
  readonly pickerCa?: string;
}

export function pickerOptions({ pickerAllow, pickerCa, pickerDeny }: PickerFlags): PickerOptions {
  return {
    pickerAddresses: { allow: pickerAllow, deny: pickerDeny },
    pickerCertificates: pickerCa === undefined ? undefined : readFileSync(pickerCa, 'utf8'),
  };
}

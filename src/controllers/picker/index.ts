/** Asking an application which of its pods a downscale should remove. */
export { type AddressPolicy, type AddressRules, createAddressPolicy } from './addresses.ts';
export { askPicker, type AskPickerOptions, type PickerConcern } from './ask.ts';
export { type Consultation, type ConsultOptions, consultPicker } from './consult.ts';
export { createHttpProtocol, type HttpProtocolOptions, MAX_ANSWER_BYTES, type Resolve } from './http.ts';
export { FAILURE_CODE, type PickerFailure, type PickerProtocol } from './protocol.ts';

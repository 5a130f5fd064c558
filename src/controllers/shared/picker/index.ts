/** Asking an application which of its pods a downscale should remove. */
export { type AddressRules, createAddressPolicy } from './addresses.ts';
export { askPicker } from './ask.ts';
export { consultPicker } from './consult.ts';
export { createHttpProtocol, MAX_ANSWER_BYTES, type Resolve } from './http.ts';
export { type PickerProtocol } from './protocol.ts';

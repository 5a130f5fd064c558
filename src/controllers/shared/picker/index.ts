/** Asking an application which of its pods a downscale should remove. */
export { type AddressPolicy, type AddressRules, createAddressPolicy } from './addresses.ts';
export { askPicker } from './ask.ts';
export { consultPicker } from './consult.ts';
export { createHttpProtocol, MAX_ANSWER_BYTES, openPost, type Resolve } from './http.ts';
export { isWorthAnotherTry, PickerError, type PickerProtocol } from './protocol.ts';

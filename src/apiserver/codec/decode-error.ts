import { LIMITS } from '../exchange/limits.ts';

/** The body cannot be read as what it claims to be. The one error decoders throw. */
export class DecodeError extends Error {
  override name = 'DecodeError';
}

/** The body is more than one request may cost; the message says by which bound. */
export class TooLargeError extends Error {
  override name = 'TooLargeError';
}

export const tooManyValues = (): TooLargeError =>
  new TooLargeError(`Request entity too large: limit is ${LIMITS.bodyValues} values in one body`);

export const tooManyObjects = (path: string): TooLargeError =>
  new TooLargeError(
    `Request entity too large: limit is ${LIMITS.listedObjects} objects in one list, which ${path.slice(0, 1000)} exceeds`,
  );

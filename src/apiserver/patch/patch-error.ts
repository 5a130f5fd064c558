export type PatchErrorReason = 'BadRequest' | 'Invalid' | 'RequestEntityTooLarge' | 'InternalError';

const CODES: Record<PatchErrorReason, number> = {
  BadRequest: 400,
  Invalid: 422,
  RequestEntityTooLarge: 413,
  InternalError: 500,
};

/** The one error patches throw: the patch is malformed or does not fit the object. */
export class PatchError extends Error {
  override name = 'PatchError';
  readonly reason: PatchErrorReason;
  readonly code: number;

  constructor(reason: PatchErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.code = CODES[reason];
  }
}

/** How the real server puts a patch that does not fit; it says no more. */
export const REJECTED = 'the server rejected our request due to an error in our request';

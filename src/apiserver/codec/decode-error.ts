/** The body cannot be read as what it claims to be. The one error decoders throw. */
export class DecodeError extends Error {
  override name = 'DecodeError';
}

/** Nesting beyond this is refused, so that walks over an object stay within the stack. */
export const MAX_DEPTH = 1000;

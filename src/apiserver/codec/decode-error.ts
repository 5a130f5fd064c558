/** The body cannot be read as what it claims to be. The one error decoders throw. */
export class DecodeError extends Error {
  override name = 'DecodeError';
}

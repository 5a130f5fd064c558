/** Quorate as a library: start the embedded host or the operator from your own program. */
export {
  type EmbeddedHost,
  type EmbeddedOptions,
  type Operator,
  type OperatorOptions,
  startEmbedded,
  startOperator,
} from './app/index.ts';

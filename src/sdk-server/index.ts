// What the servers of the SDKs (picker, responder) share: a small HTTP(S) server that is asked by POST. Stands alone.
export {
  type CallAnswer,
  type CallerSecret,
  type CallServer,
  type ListeningServer,
  type ListenOptions,
  serveCalls,
} from './serve-calls.ts';

export { Aggregator } from './aggregator.ts';
export { keepApiServices } from './keep.ts';
export type { ProxyIdentity } from './remote.ts';

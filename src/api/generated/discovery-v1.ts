// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { ObjectReference } from './core-v1.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Endpoint {
  addresses: string[];
  conditions?: EndpointConditions | undefined;
  hostname?: string | undefined;
  targetRef?: ObjectReference | undefined;
  deprecatedTopology?: Record<string, string> | undefined;
  nodeName?: string | undefined;
  zone?: string | undefined;
  hints?: EndpointHints | undefined;
}

export interface EndpointConditions {
  ready?: boolean | undefined;
  serving?: boolean | undefined;
  terminating?: boolean | undefined;
}

export interface EndpointHints {
  forZones?: ForZone[] | undefined;
  forNodes?: ForNode[] | undefined;
}

export interface EndpointPort {
  name?: string | undefined;
  protocol?: string | undefined;
  port?: number | undefined;
  appProtocol?: string | undefined;
}

export interface EndpointSlice {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  addressType: string;
  endpoints?: Endpoint[] | undefined;
  ports?: EndpointPort[] | undefined;
}

export interface EndpointSliceList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: EndpointSlice[];
}

export interface ForNode {
  name: string;
}

export interface ForZone {
  name: string;
}

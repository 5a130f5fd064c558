// Generated from the Kubernetes Go types. Do not edit; run: cd scripts/schema && go run ./generate
import type { TypedLocalObjectReference } from './core-v1.ts';
import type { Condition, LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface HTTPIngressPath {
  path?: string | undefined;
  pathType?: string | undefined;
  backend: IngressBackend;
}

export interface HTTPIngressRuleValue {
  paths: HTTPIngressPath[];
}

export interface IPAddress {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: IPAddressSpec | undefined;
}

export interface IPAddressList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: IPAddress[];
}

export interface IPAddressSpec {
  parentRef?: ParentReference | undefined;
}

export interface IPBlock {
  cidr: string;
  except?: string[] | undefined;
}

export interface Ingress {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: IngressSpec | undefined;
  status?: IngressStatus | undefined;
}

export interface IngressBackend {
  service?: IngressServiceBackend | undefined;
  resource?: TypedLocalObjectReference | undefined;
}

export interface IngressClass {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: IngressClassSpec | undefined;
}

export interface IngressClassList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: IngressClass[];
}

export interface IngressClassParametersReference {
  apiGroup?: string | undefined;
  kind: string;
  name: string;
  scope?: string | undefined;
  namespace?: string | undefined;
}

export interface IngressClassSpec {
  controller?: string | undefined;
  parameters?: IngressClassParametersReference | undefined;
}

export interface IngressList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: Ingress[];
}

export interface IngressLoadBalancerIngress {
  ip?: string | undefined;
  hostname?: string | undefined;
  ports?: IngressPortStatus[] | undefined;
}

export interface IngressLoadBalancerStatus {
  ingress?: IngressLoadBalancerIngress[] | undefined;
}

export interface IngressPortStatus {
  port: number;
  protocol: string;
  error?: string | undefined;
}

export interface IngressRule extends IngressRuleValue {
  host?: string | undefined;
}

export interface IngressRuleValue {
  http?: HTTPIngressRuleValue | undefined;
}

export interface IngressServiceBackend {
  name: string;
  port?: ServiceBackendPort | undefined;
}

export interface IngressSpec {
  ingressClassName?: string | undefined;
  defaultBackend?: IngressBackend | undefined;
  tls?: IngressTLS[] | undefined;
  rules?: IngressRule[] | undefined;
}

export interface IngressStatus {
  loadBalancer?: IngressLoadBalancerStatus | undefined;
}

export interface IngressTLS {
  hosts?: string[] | undefined;
  secretName?: string | undefined;
}

export interface NetworkPolicy {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: NetworkPolicySpec | undefined;
}

export interface NetworkPolicyEgressRule {
  ports?: NetworkPolicyPort[] | undefined;
  to?: NetworkPolicyPeer[] | undefined;
}

export interface NetworkPolicyIngressRule {
  ports?: NetworkPolicyPort[] | undefined;
  from?: NetworkPolicyPeer[] | undefined;
}

export interface NetworkPolicyList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: NetworkPolicy[];
}

export interface NetworkPolicyPeer {
  podSelector?: LabelSelector | undefined;
  namespaceSelector?: LabelSelector | undefined;
  ipBlock?: IPBlock | undefined;
}

export interface NetworkPolicyPort {
  protocol?: string | undefined;
  port?: number | string | undefined;
  endPort?: number | undefined;
}

export interface NetworkPolicySpec {
  podSelector?: LabelSelector | undefined;
  ingress?: NetworkPolicyIngressRule[] | undefined;
  egress?: NetworkPolicyEgressRule[] | undefined;
  policyTypes?: string[] | undefined;
}

export interface ParentReference {
  group?: string | undefined;
  resource?: string | undefined;
  namespace?: string | undefined;
  name?: string | undefined;
}

export interface ServiceBackendPort {
  name?: string | undefined;
  number?: number | undefined;
}

export interface ServiceCIDR {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: ServiceCIDRSpec | undefined;
  status?: ServiceCIDRStatus | undefined;
}

export interface ServiceCIDRList {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ListMeta;
  items: ServiceCIDR[];
}

export interface ServiceCIDRSpec {
  cidrs?: string[] | undefined;
}

export interface ServiceCIDRStatus {
  conditions?: Condition[] | undefined;
}

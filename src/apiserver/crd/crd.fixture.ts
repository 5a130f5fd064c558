/** A definition to try, and objects of it. */
export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const WIDGETS = '/apis/example.com/v1/namespaces/team/widgets';

interface Version {
  name: string;
  served: boolean;
  storage: boolean;
  [field: string]: unknown;
}

export const version = (name: string, over: Partial<Version> = {}): Version => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  ...over,
});

export const definition = (versions: Version[] = [version('v1')], names: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], ...names },
    versions,
  },
});

export const widget = (name: string, more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  ...more,
});

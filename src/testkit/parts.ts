/** What builders of objects are made of. */
export interface NamedOptions {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

export function metadata({ name, namespace, labels, annotations }: NamedOptions, fallback: string) {
  return {
    name: name ?? fallback,
    namespace: namespace ?? 'default',
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  };
}

export const container = (image = 'registry.k8s.io/pause:3.10') => ({ name: 'main', image });

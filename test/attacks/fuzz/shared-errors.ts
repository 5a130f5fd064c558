/**
 * Answers 500 that kube-apiserver gives as well, seen beside it with `--real`: runs without it count only others. Each
 * is refused input, and a client of the real server would meet the same code.
 */
const SHARED: readonly RegExp[] = [
  // An apply configuration that does not fit the schema.
  /failed to create typed patch object/,
  // Directives of a strategic merge patch that mean nothing.
  /unknown patch type|\$retainKeys|\$setElementOrder|\$deleteFromPrimitiveList/,
  // Items of a strategic merge patch that cannot be matched with those that are there.
  /does not contain declared merge key|list element types are not identical/,
  /has more than one PodDisruptionBudget/,
  /resourceVersion should not be set on objects to be created/,
];

export const isSharedError = (text: string): boolean => SHARED.some((pattern) => pattern.test(text));

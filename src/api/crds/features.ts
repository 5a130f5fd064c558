/** What an installation can do without, and is then spared the rights for: by the name it has in flags and roles. */
export const FEATURE_NAMES = {
  podUnavailableBudgets: 'pod-unavailable-budgets',
  groupEvictions: 'group-evictions',
  pickers: 'pickers',
  groupCreation: 'group-creation',
  maintenances: 'maintenances',
  capacity: 'capacity',
  evictionRequests: 'eviction-requests',
} as const;

export type OptionalFeature = keyof typeof FEATURE_NAMES;

export const OPTIONAL_FEATURES = Object.keys(FEATURE_NAMES) as readonly OptionalFeature[];

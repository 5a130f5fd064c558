import type { PolicyRule } from './generated/rbac-v1.ts';

/** What one rule of a role allows, in one line. */
export const rule = (
  apiGroups: string[],
  resources: string[],
  verbs: readonly string[],
  resourceNames?: string[],
): PolicyRule => ({
  apiGroups,
  resources,
  verbs: [...verbs],
  ...(resourceNames === undefined ? {} : { resourceNames }),
});

export const READ = ['get', 'list', 'watch'] as const;

/** How many pods there should be, of owners that nothing else is known about. */
export const READ_SCALES = rule(['*'], ['*/scale'], ['get']);

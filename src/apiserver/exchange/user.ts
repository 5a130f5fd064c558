/** Who makes a request, as admission and RBAC see it. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** As objects and reviews spell it, with lists of its own. */
export function userInfoOf({ username, uid, groups, extra }: UserInfo) {
  return {
    username,
    ...(uid && { uid }),
    groups: [...groups],
    ...(extra && { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  };
}

export const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Who makes a request, as admission and RBAC see it. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

import { systemAdmin, type UserInfo } from '../apiserver/index.ts';
import { GARBAGE_COLLECTOR } from '../decisions/unavailability/index.ts';

/** Who a component of the embedded plane is; only the garbage collector is told apart from the others. */
export function componentUser(component: string): UserInfo {
  return component === 'generic-garbage-collector' ? { ...systemAdmin, username: GARBAGE_COLLECTOR } : systemAdmin;
}

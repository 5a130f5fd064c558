import { systemAdmin, type UserInfo } from '../apiserver/index.ts';
import { OBSERVER, OBSERVER_USER } from '../api/quorate/maintenance.ts';
import { GARBAGE_COLLECTOR } from '../decisions/unavailability/index.ts';

const NAMED: Readonly<Record<string, string>> = {
  'generic-garbage-collector': GARBAGE_COLLECTOR,
  [OBSERVER]: OBSERVER_USER,
};

/** Who a component of the embedded plane is; few are told apart from the others. */
export function componentUser(component: string): UserInfo {
  const username = NAMED[component];
  return username === undefined ? systemAdmin : { ...systemAdmin, username };
}

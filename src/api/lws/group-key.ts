import { createHash } from 'node:crypto';

/** Same for a group and its replacement, so that nobody mistakes one for two. Of subgroups: leader and index. */
export function groupKeyOf(scope: string, name: string): string {
  return createHash('sha1').update(`${scope}/${name}`).digest('hex');
}

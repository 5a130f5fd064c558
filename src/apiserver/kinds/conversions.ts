/** Conversions at the edge for kinds that are served in more versions than they are stored in. */
import type { VersionRow } from '../registry/row.ts';
import { groupConversions } from './scheduling/conversions.ts';

export type Conversion = Pick<VersionRow, 'toStored' | 'fromStored' | 'carry' | 'needsRevision'>;

/** By `group/Kind/version`; versions that differ from the stored one only in `apiVersion` need no entry. */
export const conversions: Readonly<Record<string, Conversion>> = { ...groupConversions };

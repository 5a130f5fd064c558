/** Conversions at the edge for kinds that are served in more versions than they are stored in. */
import type { VersionRow } from '../registry/row.ts';

type Conversion = Pick<VersionRow, 'toStored' | 'fromStored'>;

/** By `group/Kind/version`; versions that differ from the stored one only in `apiVersion` need no entry. */
export const conversions: Readonly<Record<string, Conversion>> = {};

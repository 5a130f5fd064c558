/** Of one resource; resourceVersions are decimal numbers of any length. */
export function isAsNewAs(version: string, wanted: string): boolean {
  if (version.length !== wanted.length) return version.length > wanted.length;
  return version >= wanted;
}

/** The version of this program; package.json says the same. */
export const QUORATE_VERSION = '0.1.0';

import fc from 'fast-check';

/**
 * Property tests draw the same cases in every run, so that a red run is about the change at hand. `QUORATE_SEED=random`
 * (or a number) tries others; a failure prints the seed that found it.
 */
const asked = process.env['QUORATE_SEED'];
const seed = asked === 'random' ? Date.now() % 2_147_483_647 : Number(asked ?? 20_261_115);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

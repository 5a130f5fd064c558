/** What the leader says about itself on its Lease. */
export const MODE_ANNOTATION = 'policy.quorate.dev/mode';
export const VERSION_ANNOTATION = 'policy.quorate.dev/version';
/** How it tells the API server's reviews from anybody else's: `Token` or `Certificate`. */
export const REVIEWS_ANNOTATION = 'policy.quorate.dev/reviews';

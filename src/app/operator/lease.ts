/** What the leader says about itself on its Lease. */
export const MODE_ANNOTATION = 'policy.quorate.dev/mode';
export const VERSION_ANNOTATION = 'policy.quorate.dev/version';

/**
 * What one request may cost, checked before the cost is paid. One thread serves everybody, so an input without a bound
 * is everybody's wait. The same table, with what the real server does, is in docs/concepts/limits.md.
 */
export const LIMITS = {
  /** Bytes of a request body; as the real server. Checked while it is read. */
  bodyBytes: 3 * 1024 * 1024,
  /** Values (objects, lists, strings, numbers …) in one body. The real server has no such bound, and a thread per request. */
  bodyValues: 100_000,
  /** Objects in one list of a built-in kind, such as containers: each has rules of its own. The real server has no bound. */
  listedObjects: 10_000,
  /** Nesting of JSON and protobuf, so that walks over an object stay within the stack. */
  jsonDepth: 1000,
  /** Nesting of YAML, whose parser takes more of the stack. */
  yamlDepth: 300,
  /** Characters of YAML that are read at once; longer texts are read on a thread of their own. */
  yamlReadAtOnce: 16 * 1024,
  /** What that thread may take for one text, and how many may wait for it, of all and of one user. */
  yamlReadMs: 5000,
  yamlMemoryMb: 512,
  yamlWaiting: 10,
  yamlWaitingOfUser: 5,
  /** Unknown and repeated fields that are told of; as the real server. */
  fieldProblems: 100,
  /** Characters of their paths, which a body with long keys could multiply. */
  fieldProblemCharacters: 64 * 1024,
  /** Operations of a JSON patch; as the real server. */
  jsonPatchOperations: 10_000,
  /** Bytes that the copies of a JSON patch may add up to; as the real server. */
  jsonPatchCopiedBytes: 3 * 1024 * 1024,
  /** Values that a JSON patch may compare and copy; items that it shifts in lists count a fraction of that. */
  jsonPatchWork: 100_000,
  /** Bytes of an object that is written in one turn of the thread; larger ones let others have theirs in between. */
  writtenAtOnce: 64 * 1024,
  /** Problems that the answer to an invalid object lists. */
  listedIssues: 1000,
  /** Length of texts times the size of the patterns that they are matched with, for one object. */
  patternWork: 10_000_000,
  /** Characters of one CEL expression; as the real server. */
  celCharacters: 100_000,
  /** Expressions in one custom resource definition. The real server has no such bound. */
  celRules: 1000,
  /** Estimated cost of one rule of a custom resource definition, and of all its rules; as the real server. */
  celEstimatedRule: 10_000_000,
  celEstimatedDefinition: 100_000_000,
  /** Cost of one evaluation; as the real server. */
  celCall: 1_000_000,
  /** Cost of all evaluations for one object or one policy. The real server allows ten times as much. */
  celBudget: 1_000_000,
} as const;

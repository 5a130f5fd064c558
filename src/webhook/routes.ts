/** Where each webhook is asked, how large its reviews are, and what is said when no decision can be made. */
import { allow, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';
import { keepStatus } from './status.ts';

export interface ReviewTraits {
  readonly maxBodyBytes: number;
  /** Evictions have a share of the memory for bodies that nothing else can take. */
  readonly isEviction: boolean;
  /** Answered also while nothing can be decided; others are then left to the failure policy of their webhook. */
  readonly isAlwaysAnswered: boolean;
  /** The answer where the handler failed, or took too long. */
  readonly undecided: (why: string, review: ReviewRequest) => ReviewResponse;
}

const MIB = 1024 * 1024;

/** Drains wait for 429 and give up on anything else. */
const EVICTION: ReviewTraits = {
  maxBodyBytes: 3 * MIB,
  isEviction: true,
  isAlwaysAnswered: true,
  undecided: (message) => refuse({ code: 429, reason: 'TooManyRequests', message, details: { retryAfterSeconds: 1 } }),
};
/** An object is at most 3 MiB, and a review carries two. */
const OTHER: ReviewTraits = {
  maxBodyBytes: 8 * MIB,
  isEviction: false,
  isAlwaysAnswered: false,
  undecided: (message) => refuse({ code: 500, reason: 'InternalError', message }),
};
/** A picker chooses; it never keeps a workload from shrinking. */
const CHOICE: ReviewTraits = { ...OTHER, undecided: () => allow };

/** A controller that makes pods tries again. */
const LINK: ReviewTraits = { ...OTHER, undecided: EVICTION.undecided };

/** Numbers that are ours stay as they are. */
const STATUS: ReviewTraits = {
  ...OTHER,
  maxBodyBytes: 3 * MIB,
  isAlwaysAnswered: true,
  undecided: (_, review) => keepStatus(review),
};

interface Route {
  /** Name of the webhook in its configuration. */
  readonly webhook: string;
  readonly path: string;
  readonly traits: ReviewTraits;
}

const ROUTES: readonly Route[] = [
  { webhook: 'evictions.quorate.dev', path: '/validate-eviction', traits: EVICTION },
  { webhook: 'groups.quorate.dev', path: '/validate-groups', traits: EVICTION },
  { webhook: 'status.quorate.dev', path: '/adopt-status', traits: STATUS },
  { webhook: 'link.quorate.dev', path: '/link-pod', traits: LINK },
  { webhook: 'owners.quorate.dev', path: '/expect-groups', traits: CHOICE },
  { webhook: 'pods.quorate.dev', path: '/validate-pods', traits: OTHER },
  { webhook: 'downscales.quorate.dev', path: '/pick-downscale', traits: CHOICE },
  { webhook: 'pickers.quorate.dev', path: '/validate-pickers', traits: OTHER },
  { webhook: 'podgroups.quorate.dev', path: '/validate-pod-groups', traits: OTHER },
  { webhook: 'requests.quorate.dev', path: '/validate-requests', traits: OTHER },
  { webhook: 'maintenances.quorate.dev', path: '/validate-maintenances', traits: OTHER },
  { webhook: 'policies.quorate.dev', path: '/validate-policies', traits: OTHER },
  { webhook: 'budgets.quorate.dev', path: '/validate-budgets', traits: OTHER },
];

export function traitsOf(path: string): ReviewTraits {
  return ROUTES.find((route) => route.path === path)?.traits ?? OTHER;
}

/** The path a webhook of ours is asked at; undefined for a name that is not ours. */
export function reviewPath(webhook: string): string | undefined {
  return ROUTES.find((route) => route.webhook === webhook)?.path;
}

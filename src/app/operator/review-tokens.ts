import { randomBytes } from 'node:crypto';
import type { Client, Clock, Logger } from '../../machinery/runtime/index.ts';
import { formatTime, parseTime } from '../../machinery/values/index.ts';
import { TOKEN_SECRET } from '../../webhook/index.ts';
import { ensureShared, type SecretTexts } from './shared-secret.ts';

export interface ReviewTokensOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

export interface ReviewTokens {
  /** The one to be asked with. */
  current(): string;
  /** Those that are believed now. */
  valid(): readonly string[];
  /** Reads them anew, once a second at most: another replica may have renewed them. */
  refresh(): Promise<void>;
  /** Called with each new one. */
  onRenewed(callback: (token: string) => void): void;
}

const TOKEN_BYTES = 32;
const DAY_MS = 86_400_000;
/** As a serving certificate, which is renewed after two thirds of its 90 days. */
const RENEW_AFTER_MS = 60 * DAY_MS;
/** API servers take a moment to learn the new path, and carry out for a while what they have begun. */
const OLD_VALID_MS = 65_000;
const LOOK_AGAIN_MS = 60_000;
const REFRESH_MS = 1000;

interface Stored {
  readonly token: string;
  readonly previous: string;
  readonly renewedMs: number;
}

/** The secret in the path of reviews, shared by all replicas through a Secret that whoever finds it missing makes. */
export async function openReviewTokens(options: ReviewTokensOptions): Promise<ReviewTokens> {
  const { clock, log, signal } = options;
  let stored = await ensureTokens(options, undefined);
  let lookedMs = clock.elapsed();
  let looking: Promise<void> | undefined;
  const callbacks: ((token: string) => void)[] = [];
  const look = async (): Promise<void> => {
    lookedMs = clock.elapsed();
    try {
      const found = await ensureTokens(options, stored);
      const isNew = found.token !== stored.token;
      stored = found;
      if (isNew) for (const callback of callbacks) callback(found.token);
    } catch (error) {
      log.error({ error: String(error) }, 'cannot read the secret path of reviews');
    }
  };
  const arm = (): void => {
    if (signal.aborted) return;
    const cancel = clock.after(LOOK_AGAIN_MS, () => void look().then(arm));
    signal.addEventListener('abort', cancel, { once: true });
  };
  arm();
  return {
    current: () => stored.token,
    valid: () =>
      stored.previous !== '' && clock.now() - stored.renewedMs < OLD_VALID_MS
        ? [stored.token, stored.previous]
        : [stored.token],
    async refresh() {
      if (looking === undefined && clock.elapsed() - lookedMs < REFRESH_MS) return;
      looking ??= look().finally(() => {
        looking = undefined;
      });
      await looking;
    },
    onRenewed: (callback) => callbacks.push(callback),
  };
}

/** What is stored, made or renewed where need be. A Secret that was deleted is made again with what was known. */
function ensureTokens({ client, clock, namespace }: ReviewTokensOptions, known: Stored | undefined): Promise<Stored> {
  return ensureShared<Stored>({
    client,
    namespace,
    name: TOKEN_SECRET,
    read: readTexts,
    write: ({ previous, renewedMs, token }) => ({ token, previous, renewed: formatTime(renewedMs) }),
    isGood: ({ renewedMs }) => clock.now() - renewedMs < RENEW_AFTER_MS,
    renew: (stored) =>
      stored === undefined && known !== undefined
        ? known
        : {
            token: randomBytes(TOKEN_BYTES).toString('hex'),
            previous: stored?.token ?? '',
            renewedMs: clock.now(),
          },
  });
}

/** Undefined where it does not hold a token of ours. */
function readTexts({ previous = '', renewed = '', token = '' }: SecretTexts): Stored | undefined {
  const renewedMs = parseTime(renewed);
  if (Buffer.from(token, 'hex').length !== TOKEN_BYTES || renewedMs === undefined) return undefined;
  return { token, previous, renewedMs };
}

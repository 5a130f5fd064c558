import { disruptionHistoryType, type HandedOver, HISTORY_PART_LABEL } from '../../../api/quorate/disruption-history.ts';
import {
  type GivenAnswer,
  type AnswerQueue,
  DisruptionRecorder,
  type HistoryBounds,
} from '../../../decisions/history/index.ts';
import { type ControllerContext, existing } from '../../../machinery/runtime/index.ts';
import { formatMicroTime } from '../../../machinery/values/index.ts';
import { HistoryBook } from './book.ts';
import { HANDED_MS } from './deps.ts';
import type { HistoryMeters } from './meters.ts';

/** The newest that are handed over. */
const MAX_HANDED = 500;

interface ReplicaOptions {
  readonly answers: AnswerQueue;
  readonly home: string;
  readonly writer: string;
  readonly bounds: HistoryBounds;
  readonly everyMs: number;
  readonly meters: HistoryMeters;
  readonly groupOf: (namespace: string, name: string) => string | undefined;
  /** Called each time: what is only for the leader must not pile up. */
  readonly idle: () => void;
}

/**
 * What a replica does that does not lead: it enters what it refused, and hands over to the leader whom it let pass. Ends
 * when it leads: what it was asked until then is entered by the record of the leader.
 */
export function keepAsReplica(
  { client, clock, leading, log, signal }: ControllerContext,
  { answers, bounds, everyMs, groupOf, home, idle, meters, writer }: ReplicaOptions,
): void {
  if (leading === undefined) return;
  const recorder = new DisruptionRecorder({ writer });
  const book = new HistoryBook({ client, writer, home, bounds });
  let ended = false;
  let handed: GivenAnswer[] = [];
  let isWritten = true;
  void leading.then(() => {
    ended = true;
  });

  async function keep(): Promise<void> {
    const now = clock.now();
    idle();
    for (const answer of answers.take()) {
      const { name = '' } = answer.pod ?? {};
      if (!answer.allowed) recorder.answered(answer, groupOf(answer.namespace, name));
      else {
        handed.push(answer);
        isWritten = false;
      }
    }
    recorder.tick(now, () => false);
    const changed = recorder.takeChanged(now);
    meters.waitsSince = changed.length === 0 ? undefined : (meters.waitsSince ?? now);
    if (changed.length > 0) {
      let left = changed;
      try {
        left = await book.write(changed);
      } finally {
        recorder.giveBack(left);
      }
      if (left.length === 0) meters.waitsSince = undefined;
    }
    meters.count(recorder.takeNews());
    if (isWritten) return;
    handed = handed.filter(({ at }) => now - at < HANDED_MS).slice(-MAX_HANDED);
    await handOver(handed);
    isWritten = true;
  }

  async function handOver(all: readonly GivenAnswer[]): Promise<void> {
    const name = `answers-${writer}`;
    const before = await existing(client.get(disruptionHistoryType, { namespace: home, name }));
    const spec = { writer, answered: all.map(asHandedOver) };
    const labels = { [HISTORY_PART_LABEL]: 'answers' };
    await (before === undefined
      ? client.create(disruptionHistoryType, { metadata: { namespace: home, name, labels }, spec })
      : client.update(disruptionHistoryType, { ...before, spec }));
  }

  const run = (): void => {
    if (ended || signal.aborted) return;
    keep()
      .catch((error: unknown) => log.warn({ error: String(error) }, 'what was answered could not be entered'))
      .finally(() => {
        cancel = clock.after(everyMs, run);
      });
  };
  let cancel = clock.after(everyMs, run);
  signal.addEventListener('abort', () => cancel(), { once: true });
}

function asHandedOver({ at, group, judged, kind, namespace, pod, who }: GivenAnswer): HandedOver {
  return {
    at: formatMicroTime(at),
    kind,
    namespace,
    who,
    ...(pod && { pod }),
    ...(group !== undefined && { group }),
    ...(judged === true && { judged }),
  };
}

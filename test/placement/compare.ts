/** Asks both about drawn scenes and sorts the answers into classes (placement design, section 8.3). */
import type { Answer } from '../../src/decisions/placement/index.ts';
import type { GroupMinor } from '../kubernetes/binaries.ts';
import { drawScene } from './draw.ts';
import { askOurs, tell } from './ours.ts';
import type { RealAnswer, RealScheduler } from './real.ts';

export const CLASSES = ['Agree', 'FalseYes', 'FalseNo', 'Shy', 'Careful', 'NoAnswer'] as const;
export type Class = (typeof CLASSES)[number];

export interface Compared {
  readonly seed: number;
  readonly class: Class;
  readonly ours: string;
  /** Why a scheduler might still do it, where we do not say yes. */
  readonly reason: string;
  readonly real: readonly RealAnswer[];
  readonly traits: readonly string[];
}

/**
 * Where the two differ the scheduler is asked again so often, with other orders of creation: a no of ours, or "it depends",
 * is right if any order fails.
 */
const MORE_ORDERS = 3;
/** One yes in so many is carried out exactly where we said. */
const REPLAYED = 20;

export async function compare(seed: number, scheduler: RealScheduler, level: GroupMinor): Promise<Compared> {
  const ours = askOurs(drawScene(seed), level);
  const real: RealAnswer[] = [];
  const ask = async (patient: boolean): Promise<RealAnswer> => {
    const at = real.length;
    const answer = await scheduler.ask(drawScene(seed, `s${seed}-${at}`), { order: seed * 4 + at, patient });
    real.push(answer);
    return answer;
  };
  const first = await ask(false);
  if (first.fits === 'NoAnswer') await ask(true);
  const doubtful =
    (ours.fits === 'Yes' && real.at(-1)?.fits === 'No') || (ours.fits !== 'Yes' && real.at(-1)?.fits === 'Yes');
  for (let more = 0; doubtful && more < MORE_ORDERS; more += 1) await ask(ours.fits === 'Yes');
  if (ours.fits === 'Yes' && real.at(-1)?.fits === 'Yes' && seed % REPLAYED === 0) await replay(seed, ours);
  return {
    seed,
    class: classOf(ours, real),
    ours: tell(ours),
    reason: reasonOf(ours),
    real,
    traits: drawScene(seed).traits,
  };

  async function replay(at: number, { where }: Extract<Answer, { fits: 'Yes' }>): Promise<void> {
    const id = `s${at}-replay`;
    // The scene's name is part of its nodes' names.
    const pinned = new Map(where.map(({ node, pod }) => [pod.name, node.replace(`s${at}-`, `${id}-`)]));
    const scene = drawScene(at, id);
    const asked = scene.asked.filter(({ metadata }) => pinned.has(metadata.name ?? ''));
    real.push(await scheduler.ask({ ...scene, asked }, { order: at, patient: true, pinned }));
  }
}

function classOf(ours: Answer, real: readonly RealAnswer[]): Class {
  const answers = real.map(({ fits }) => fits).filter((fits) => fits !== 'NoAnswer');
  if (answers.length === 0) return 'NoAnswer';
  const no = answers.includes('No');
  if (ours.fits === 'Yes') return no ? 'FalseYes' : 'Agree';
  if (ours.fits === 'No') return no ? 'Agree' : 'FalseNo';
  return no ? 'Careful' : 'Shy';
}

function reasonOf(ours: Answer): string {
  if (ours.fits !== 'Unknown') return ours.proof;
  const { because } = ours;
  return 'what' in because ? `${because.reason}(${because.what})` : because.reason;
}

import { type Mark, MARK_WORDS } from '../../fleet/index.ts';
import { SHAPES } from './shapes.ts';

/** A group's mark. Without a label it stands beside words that say the same. */
export function MarkIcon({ mark, size = 16, labelled = false }: { mark: Mark; size?: number; labelled?: boolean }) {
  const { path, stroked } = SHAPES[mark];
  const name = labelled
    ? { role: 'img' as const, 'aria-label': MARK_WORDS[mark].label }
    : { 'aria-hidden': true as const };
  return (
    <svg
      class={`mark mark-${mark} ${stroked ? 'stroked' : ''}`}
      viewBox="0 0 16 16"
      width={size}
      height={size}
      {...name}
    >
      <path d={path} />
    </svg>
  );
}

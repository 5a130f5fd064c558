import { CannotTellError } from '../../tasks/index.ts';
import { ApiError, DeadlineError, isForbidden, KubeconfigError } from '../../machinery/runtime/index.ts';
import { complain } from './complain.ts';
import { CANNOT_TELL } from './exit-codes.ts';

/** Says on the terminal why a command ended and which command helps next, and gives its exit code. */
export function failWith(command: string, error: unknown, code = 1): number {
  const message = error instanceof Error ? error.message : String(error);
  const hint = hintFor(error);
  complain(`quorate ${command}: ${message}`);
  if (hint !== undefined) complain(hint);
  return error instanceof CannotTellError ? CANNOT_TELL : code;
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** What to type next; undefined where the message says it already. */
export function hintFor(error: unknown): string | undefined {
  if (error instanceof CannotTellError) {
    const [resource = 'pods'] = error.unread;
    return `To see what you may read: kubectl auth can-i list ${resource} -A`;
  }
  if (isForbidden(error)) return 'To see what you may do: kubectl auth can-i --list';
  if (error instanceof ApiError && error.code === 401)
    return 'To see who the server takes you for: kubectl auth whoami';
  if (error instanceof DeadlineError) return 'To wait longer: --request-timeout 2m';
  if (error instanceof KubeconfigError) {
    return error.message.startsWith('Cannot find a kubeconfig')
      ? 'To start a control plane to try things on: quorate up'
      : 'To see what the kubeconfig has: kubectl config get-contexts';
  }
  if (UNREACHABLE.has((error as { code?: string }).code ?? '')) {
    return 'To see where the kubeconfig points: kubectl config view --minify. To start a control plane: quorate up';
  }
  return undefined;
}

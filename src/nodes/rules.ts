import type { Container, Pod } from '../api/generated/core-v1.ts';
import { hostPortsOf, UsedPorts } from '../decisions/placement/index.ts';

/**
 * Things a kubelet does that follow from the pod's spec without running it. Each is off unless configured,
 * except `probe`.
 */
export interface Rules {
  /** Readiness waits for `initialDelaySeconds`; probes then succeed. */
  readonly probe: boolean;
  /** `activeDeadlineSeconds` ends the pod: Failed, `DeadlineExceeded`. */
  readonly deadline: boolean;
  /** A pod whose host port is taken on its node is rejected: Failed, `NodePorts`. */
  readonly hostport: boolean;
  /** Images that cannot be pulled, as patterns with `*`. Empty: every image can. */
  readonly image: readonly string[];
  /** Pods of Jobs whose command is a constant exit end with that code. */
  readonly exit: boolean;
}

export const defaultRules: Rules = { probe: true, deadline: false, hostport: false, image: [], exit: false };

/** Patterns of `image` when it is switched on by name alone: images that by their own name do not exist. */
export const MISSING_IMAGES = ['*:404', '*non-existent*', '*nonexistent*', '*does-not-exist*', '*doesnt-exist*'];

export const RULE_NAMES = ['probe', 'deadline', 'hostport', 'image', 'exit'] as const;
/** The rules of a comma-separated list such as `probe,deadline`; undefined when a name is unknown. */
export function parseRules(text: string): Rules | undefined {
  const names = text.split(',').filter((name) => name !== '');
  if (names.some((name) => !(RULE_NAMES as readonly string[]).includes(name))) return undefined;
  return {
    probe: names.includes('probe'),
    deadline: names.includes('deadline'),
    hostport: names.includes('hostport'),
    image: names.includes('image') ? MISSING_IMAGES : [],
    exit: names.includes('exit'),
  };
}

export function isImageMissing(rules: Rules, image: string | undefined): boolean {
  return rules.image.length > 0 && rules.image.some((pattern) => globMatches(pattern, image ?? ''));
}

function globMatches(pattern: string, text: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(text);
}

/** Rule `exit`: the code a container of a Job's pod ends with at once, or undefined when it keeps running. */
export function constantExitCode(rules: Rules, pod: Pod, container: Container): number | undefined {
  if (!rules.exit || !pod.metadata.ownerReferences?.some(({ kind, controller }) => kind === 'Job' && controller)) {
    return undefined;
  }
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  if (words.length === 0) return /(^|\/)pause(:|@|$)/.test(container.image ?? '') ? undefined : 0;
  const text = words.at(-1) === words[0] ? words[0] : words[1] === '-c' ? words[2] : undefined;
  const command = (text ?? '').trim().replace(/;$/, '');
  if (/^(\/bin\/)?true$/.test(command)) return 0;
  if (/^(\/bin\/)?false$/.test(command)) return 1;
  const exit = /^exit (\d{1,3})$/.exec(command);
  return exit === null ? undefined : Number(exit[1]);
}

export function portsConflict(a: Pod, b: Pod): boolean {
  const taken = new UsedPorts();
  for (const port of hostPortsOf(b)) taken.add(port);
  return hostPortsOf(a).some((port) => taken.conflicts(port));
}

/** What `quorate up` says when it is up. */
import { wrap } from '../shared/terminal.ts';
import type { UpFlags } from './flags.ts';

export interface PlaneFacts {
  readonly url: string;
  readonly kubeconfig: string;
  /** The context in the user's own kubeconfig, where it was merged. */
  readonly context?: string | undefined;
  readonly dashboard: string;
  readonly dataDirectory?: string | undefined;
  readonly tookMs: number;
}

const TRY_ALL = [
  'kubectl get nodes',
  'kubectl create deployment web --image=nginx --replicas=3',
  'kubectl get pods -o wide',
];
const TRY_API = ['kubectl api-resources', 'kubectl run web --image=nginx', 'kubectl get pods'];

export function banner(plane: PlaneFacts, flags: UpFlags): string {
  const running = flags.apiOnly ? 'Runs         the API server alone' : `Nodes        ${flags.nodes} simulated`;
  // What is not a terminal may keep what it is told, and whoever reads it could log in.
  const page = process.stdout.isTTY ? plane.dashboard : 'npx quorate dashboard';
  const point =
    plane.context === undefined
      ? [`export KUBECONFIG=${plane.kubeconfig}`]
      : [`kubectl config use-context ${plane.context}   # it is the current one`];
  const first = [...point, ...(flags.apiOnly ? TRY_API : TRY_ALL)].join('\n    ');
  const where = flags.detach ? 'Now:' : 'In another terminal:';
  const end = flags.detach
    ? `It runs in the background. quorate status, quorate logs, quorate down${flags.dataDir === undefined ? '' : ` (each with --data-dir ${flags.dataDir})`}.`
    : 'Ctrl-C stops it.';
  return `
  Quorate is up (${(plane.tookMs / 1000).toFixed(1)} s).

    API server   ${plane.url}
    Data         ${plane.dataDirectory ?? 'in memory, gone when this stops'}
    ${running}
    Dashboard    ${page}

  ${where}

    ${first}

  What it is for, told in a minute (it needs nothing of the above):

    npx quorate demo

${wrap(end, { indent: '  ' }).join('\n')}
`;
}

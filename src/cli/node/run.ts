import { POWER, SIMULATED } from '../../app/index.ts';
import { nodeType } from '../../api/resource-types.ts';
import { isNotFound } from '../../machinery/runtime/index.ts';
import { openCluster } from '../shared/cluster.ts';
import { failWith } from '../shared/fail.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { complain } from '../shared/complain.ts';

export async function setPower(names: readonly string[], power: 'off' | 'on', flags: ClusterFlags): Promise<void> {
  const say = (text: string): boolean => process.stdout.write(`${text}\n`);
  const refuse = (text: string): void => {
    complain(`quorate node: ${text}`);
    process.exitCode = 1;
  };
  try {
    const cluster = openCluster(flags);
    const { client } = cluster;
    for (const name of names) {
      try {
        const node = await client.get(nodeType, { name });
        if (node.metadata.annotations?.[SIMULATED] !== 'true') {
          refuse(`node "${name}" is not a simulated node; nothing was done to it`);
          continue;
        }
        const body = { metadata: { annotations: { [POWER]: power === 'off' ? 'off' : null } } };
        await client.patch(nodeType, { name }, { type: 'merge', body });
        say(power === 'off' ? `node/${name} lost power` : `node/${name} has power again`);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        refuse(`there is no node "${name}"; kubectl get nodes lists them`);
      }
    }
    if (power === 'off' && process.exitCode === undefined) {
      say('It turns NotReady in about 50 s; pods that do not tolerate that are evicted 300 s later.');
    }
    cluster.close();
  } catch (error) {
    process.exitCode = failWith('node', error);
  }
}

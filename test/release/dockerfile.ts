/** Reads a Dockerfile as far as ours goes: stages with their steps, comments and continued lines. */
export interface Step {
  readonly instruction: string;
  readonly text: string;
}

export interface Stage {
  readonly image: string;
  readonly name: string | undefined;
  readonly steps: readonly Step[];
}

export function readDockerfile(text: string): Stage[] {
  const stages: { image: string; name: string | undefined; steps: Step[] }[] = [];
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (instruction !== 'FROM') {
      stages.at(-1)?.steps.push({ instruction, text: rest });
      continue;
    }
    const [, image = '', name] = /^(?:--platform=\S+ )?(\S+)(?: AS (\S+))?$/.exec(rest) ?? [];
    stages.push({ image, name, steps: [] });
  }
  return stages;
}

/** What a builder without root, or a cluster that wants pods without it, would stumble over. */
export function lintDockerfile(text: string): string[] {
  const stages = readDockerfile(text);
  const last = stages.at(-1);
  const wrong: string[] = [];
  for (const { image } of stages)
    if (!/:\S+$/.test(image) || image.endsWith(':latest')) wrong.push(`${image}: no version`);
  for (const { instruction, text: of } of stages.flatMap(({ steps }) => steps)) {
    if (instruction === 'ADD') wrong.push(`ADD ${of}: COPY says what it does`);
    if (instruction === 'RUN' && /\b(sudo|apt-get|chown|mount)\b|--privileged|--mount/.test(of))
      wrong.push(`RUN ${of}: needs rights that a rootless builder lacks`);
  }
  const users = last?.steps.filter(({ instruction }) => instruction === 'USER').map(({ text: of }) => of) ?? [];
  if (!/^[1-9]\d*:[1-9]\d*$/.test(users.at(-1) ?? ''))
    wrong.push('the last stage must end as a user by number, not root');
  if (last?.steps.some(({ instruction }) => instruction === 'RUN')) wrong.push('the last stage must run nothing');
  const entry = last?.steps.find(({ instruction }) => instruction === 'ENTRYPOINT')?.text ?? '';
  if (!entry.startsWith('[')) wrong.push('ENTRYPOINT must be a list: signals reach the program then');
  return wrong;
}

import { expect, it } from 'vitest';
import { resumeCommand } from './plan-run.ts';

it('18.9: the command that goes on has the flags that were given', () => {
  const flags = { timeout: 0, skipWaitForDeleteTimeout: 0, output: 'text' as const };
  expect(resumeCommand('plan.json', flags)).toBe('quorate drain --plan plan.json');
  const given = { ...flags, force: true, uncordon: true, timeout: 300_000, context: 'my cluster', gracePeriod: 0 };
  expect(resumeCommand('plan.json', given)).toBe(
    "quorate drain --plan plan.json --context 'my cluster' --uncordon --force --grace-period 0 --timeout 300s",
  );
});

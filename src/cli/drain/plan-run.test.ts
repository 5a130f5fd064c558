import { Command } from 'commander';
import { expect, it, vi } from 'vitest';
import { register } from './command.ts';
import { resumeCommand } from './plan-run.ts';

it('18.9: the command that goes on has the flags that were given', () => {
  const flags = { timeout: 0, skipWaitForDeleteTimeout: 0, output: 'text' as const };
  expect(resumeCommand('plan.json', flags)).toBe('quorate drain --plan plan.json');
  const given = { ...flags, force: true, uncordon: true, timeout: 300_000, context: 'my cluster', gracePeriod: 0 };
  expect(resumeCommand('plan.json', given)).toBe(
    "quorate drain --plan plan.json --context 'my cluster' --uncordon --force --grace-period 0 --timeout 300s",
  );
  const impersonating = { ...flags, as: 'bob', asGroup: ['ops', 'on call'], requestTimeout: 5000 };
  expect(resumeCommand('plan.json', impersonating)).toBe(
    "quorate drain --plan plan.json --as bob --as-group ops --as-group 'on call' --request-timeout 5s",
  );
});

it.each([
  [['--plan', 'plan.json', '--pod-selector', 'app=a'], '--pod-selector does not go with --plan'],
  [['--plan', 'plan.json', '--best-effort'], '--best-effort does not go with --plan'],
  [['--plan', 'plan.json', '--dry-run=server'], '--dry-run=server does not go with --plan'],
  [['node-1', '--uncordon'], '--uncordon goes with --plan FILE'],
  [['node-1', '--replan'], '--replan goes with --plan FILE'],
  [['--plan', 'plan.json', '--allow-exchange'], '--allow-exchange goes with --plan FILE --replan'],
])('18.9: drain %s is refused instead of leaving a flag unheard', async (args, said) => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const exitCode = process.exitCode;
  try {
    const program = new Command();
    register(program);
    await program.parseAsync(['drain', ...args], { from: 'user' });
    expect(process.exitCode).toBe(1);
    expect(written.mock.calls.flat().join('')).toContain(said);
  } finally {
    process.exitCode = exitCode;
    written.mockRestore();
  }
});

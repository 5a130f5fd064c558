import { expect, test } from 'vitest';
import { parseJunit } from './junit.ts';

test('parseJunit() reads spec names and outcomes and ignores suite nodes', () => {
  const xml = `<testsuite><testcase name="[BeforeSuite]" status="passed"></testcase>
    <testcase name="[It] [sig-a] one &amp; &#34;two&#34;" classname="x" status="passed" time="1"></testcase>
    <testcase name="[It] [sig-a] three" status="failed"><failure/></testcase>
    <testcase name="[It] [sig-a] four" status="skipped"/></testsuite>`;
  expect(parseJunit(xml)).toEqual([
    { name: '[sig-a] one & "two"', outcome: 'passed' },
    { name: '[sig-a] three', outcome: 'failed' },
    { name: '[sig-a] four', outcome: 'skipped' },
  ]);
});

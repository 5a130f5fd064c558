import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Small files that start much: by size alone they would come last, and the run would wait for them. */
const LONGEST = [
  'test/scenarios/stories/embedded.test.ts',
  'test/docs/guides.test.ts',
  'test/docs/readme.test.ts',
  'test/cli/background.test.ts',
  'test/clients/shards.test.ts',
  'test/package/stories.test.ts',
  'test/cli/up.test.ts',
  'test/cluster/agreement.test.ts',
  'test/cluster/holders.test.ts',
  'test/cluster/stories.test.ts',
  'test/cluster/operator-stall.test.ts',
  'test/cluster/drains.test.ts',
  'test/cluster/storm.test.ts',
];

/** The order of test files: the longest begin first, the rest as Vitest has them. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.some((path) => moduleId.endsWith(path));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

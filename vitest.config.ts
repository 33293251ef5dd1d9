import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { testsOf } from './testing/watch.ts'

const BROWSER = ['test/e2e/**/*.test.{ts,tsx}', 'test/dev/components.test.ts']

/** They take a minute or more. Started last, each would run on alone at the end. */
const LONG = [
  'world/world',
  'contract/schemathesis',
  'contract/cable/stock-clients',
  'e2e/accessibility',
  'e2e/billing',
]

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.some((name) => moduleId.endsWith(`/${name}.test.ts`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    globalSetup: ['testing/stack/global-setup.ts'],
    setupFiles: ['testing/stack/each-file.ts'],
    watchTriggerPatterns: [{ pattern: /./, testsToRun: testsOf }],
    reporters: ['default', ['json', { outputFile: 'test-results/vitest.json' }]],
    // Show a test's output only if it failed.
    silent: 'passed-only',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // For two cores. The first group mostly waits. A busy browser drops animations and reports errors.
    projects: [
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: BROWSER,
          maxWorkers: 5,
          // GitHub's checker imports JSON the way bundlers do.
          server: { deps: { inline: [/@actions\//] } },
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'browser', include: BROWSER, maxWorkers: 2, sequence: { groupOrder: 1 } } },
    ],
  },
})

import { defineConfig } from 'vitest/config'
import { testsOf } from './testing/watch.ts'

const BROWSER = ['test/e2e/**/*.test.{ts,tsx}', 'test/dev/components.test.ts']

export default defineConfig({
  test: {
    globalSetup: ['testing/stack/global-setup.ts'],
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

import { defineConfig } from 'vitest/config'
import { testsOf } from './testing/watch.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['testing/stack/global-setup.ts'],
    watchTriggerPatterns: [{ pattern: /./, testsToRun: testsOf }],
    reporters: ['default', ['json', { outputFile: 'test-results/vitest.json' }]],
    // Show a test's output only if it failed.
    silent: 'passed-only',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // For two cores. A third worker is faster, but then the busy browser drops animations and reports errors.
    maxWorkers: 2,
  },
})

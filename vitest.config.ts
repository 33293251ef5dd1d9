import { defineConfig } from 'vitest/config'
import { testsOf } from './testing/watch.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['testing/stack/global-setup.ts'],
    watchTriggerPatterns: [{ pattern: /./, testsToRun: testsOf }],
    reporters: ['default', ['json', { outputFile: 'test-results/vitest.json' }]],
    // What a test logged is of interest when it failed.
    silent: 'passed-only',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Two cores: a third worker is faster still, but so busy a browser leaves out animations, and says so as an error.
    maxWorkers: 2,
  },
})

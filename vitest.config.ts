import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', ['json', { outputFile: 'test-results/vitest.json' }]],
    // What a test logged is of interest when it failed.
    silent: 'passed-only',
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // On two cores: a third computes while others wait for a browser, a socket or a timer.
    maxWorkers: 3,
  },
})

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
    // Two cores: more workers only take turns.
    maxWorkers: 2,
  },
})

/** Checks that the tests of src/domain catch changes to it: see docs/operations.md. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'vitest.mutants.config.ts' },
  mutate: ['src/domain/**/*.ts'],
  // Copies the rules and their tests, and nothing that starts the stack.
  ignorePatterns: [
    '**',
    '!src/domain/**',
    '!test/domain/**',
    '!testing/instances.ts',
    '!test/docs/billing.test.ts',
    '!docs/billing.md',
    '!package.json',
    '!vitest.mutants.config.ts',
  ],
  concurrency: 2,
  // Long enough to tell an endless loop from a busy machine.
  timeoutMS: 20_000,
  tempDirName: '.cache/stryker',
  reporters: ['progress', 'clear-text', 'html'],
  clearTextReporter: { logTests: false, reportTests: false },
  htmlReporter: { fileName: 'test-results/mutants.html' },
  // Only random examples catch some mutants, so one may survive now and then.
  thresholds: { high: 100, low: 99, break: 99 },
}

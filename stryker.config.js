/** Whether the tests of src/domain notice a change of it: see docs/operations.md. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'vitest.mutants.config.ts' },
  mutate: ['src/domain/**/*.ts'],
  // What is copied: the rules, their tests, and nothing that starts the stack.
  ignorePatterns: [
    '**',
    '!src/domain/**',
    '!test/domain/**',
    '!test/docs/billing.test.ts',
    '!docs/billing.md',
    '!package.json',
    '!vitest.mutants.config.ts',
  ],
  concurrency: 2,
  // A loop that never ends is told from a machine that is busy.
  timeoutMS: 20_000,
  tempDirName: '.cache/stryker',
  reporters: ['progress', 'clear-text', 'html'],
  clearTextReporter: { logTests: false, reportTests: false },
  htmlReporter: { fileName: 'test-results/mutants.html' },
  // Some are noticed by random examples alone, so one may live now and then.
  thresholds: { high: 100, low: 99, break: 99 },
}

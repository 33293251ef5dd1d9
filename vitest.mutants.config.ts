import { defineConfig, type Plugin } from 'vitest/config'

/** Stryker 9 asks for tests by a name joined with spaces. Vitest 5 joins with ' > ', would run none, and every mutant would live. */
const namesAsStrykerJoinsThem: Plugin = {
  name: 'names-as-stryker-joins-them',
  configureVitest({ project }) {
    let pattern: RegExp | undefined
    Object.defineProperty(project.config, 'testNamePattern', {
      enumerable: true,
      get: () => pattern,
      set: (names?: RegExp) => {
        pattern = names && new RegExp(names.source.replaceAll(' ', '(?: | > )'))
      },
    })
  },
}

export default defineConfig({
  plugins: [namesAsStrykerJoinsThem],
  test: {
    include: ['test/domain/**/*.test.ts', 'test/docs/billing.test.ts'],
    // Stryker runs the tests in threads, and a thread cannot change its zone: package.json sets one that is not UTC.
    exclude: ['test/domain/zones.test.ts'],
    testTimeout: 60_000,
  },
})

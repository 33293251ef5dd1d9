import { defineConfig, type Plugin } from 'vitest/config'

/** Stryker 9 selects tests by names joined with spaces. Vitest 5 joins with ' > ', so it would run no tests and every mutant would survive. */
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
    // Stryker runs tests in threads, which can't change their time zone. package.json sets one other than UTC.
    exclude: ['test/domain/zones.test.ts'],
    testTimeout: 60_000,
  },
})

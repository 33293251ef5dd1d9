import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { testsOf } from './testing/watch.ts'

/** What takes long by nature: `npm run test:deep` runs them, `npm test` doesn't. */
const DEEP = 'test/**/*.deep.test.ts'

const BROWSER = ['test/e2e/**/*.test.{ts,tsx}', 'test/dev/components.test.ts']

/**
 * Their modules keep nothing of a file, so a worker imports them once for all of them: half of their time. The others
 * change the time zone or the environment, or keep something in a module.
 */
const MODULES = [
  'test/{domain,pages,sim}/**/!(zones|instant).test.{ts,tsx}',
  'test/cli/!(action*|until-deleted).test.ts',
  'test/{db,docs,scripts}/*.test.ts',
  'test/attacks/!(enumeration).test.ts',
  'test/contract/!(third-party).test.ts',
  'test/contract/cable/*.test.ts',
  'test/dev/!(components).test.ts',
  'test/dev/{ec2,stand-in,stripe}/**/*.test.ts',
  'test/server/*.test.ts',
  'test/server/{runtime,settings}/!(calls|log|settings).test.ts',
  'test/server/{billing,door,events,files,fleet,mail,operations}/**/!(server-requests).test.ts',
  'test/server/{accounts,http,limits,routes}/**/!(guessing|kept-pages|metrics|password|status).test.ts',
]

const SHARED = { isolate: false, restoreMocks: true, unstubGlobals: true, unstubEnvs: true }

/** They take half a minute or more. Started last, each would run on alone at the end. */
const LONG = [
  'world/mistakes.deep',
  'world/sim.deep',
  'contract/schemathesis.deep',
  'docs/from-nothing.deep',
  'contract/data-mount.deep',
  'e2e/accessibility.deep',
  'e2e/bookkeeping.deep',
  'cli/files.deep',
  'e2e/billing.deep',
  'contract/cable/stock-clients.deep',
  'attacks/canary.deep',
  'sim/crash-points.deep',
]

/**
 * Browsers run beside programs, because each waits while the other computes. The quick modules come last, in one row:
 * only then does a worker keep what it imported, and they fill what the others leave at the end.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => LONG.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
    const long = sorted.filter((file) => rank(file) >= 0).sort((a, b) => rank(a) - rank(b))
    const others = (project: string) => sorted.filter((file) => rank(file) < 0 && file.project.name === project)
    return [...long, ...others('deep'), ...spread(others('browser'), others('programs')), ...others('modules')]
  }
}

/** Both lists in one, each evenly distributed. */
function spread<T>(...lists: T[][]): T[] {
  const placed = lists.flatMap((list) => list.map((item, i) => ({ item, at: (i + 0.5) / list.length })))
  return placed.sort((a, b) => a.at - b.at).map(({ item }) => item)
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    globalSetup: ['testing/stack/global-setup.ts'],
    // The first must come before any import of drizzle.
    setupFiles: ['testing/stack/faster-drizzle.ts', 'testing/stack/each-file.ts'],
    watchTriggerPatterns: [{ pattern: /./, testsToRun: testsOf }],
    reporters: ['default', 'json'],
    outputFile: { json: 'test-results/vitest.json' },
    // Show a test's output only if it failed.
    silent: 'passed-only',
    // A failure says what was there, not "[ Array(1) ]": often nobody sees more of it than its sentence.
    chaiConfig: { truncateThreshold: 1_000 },
    // They end what hangs. A busy machine may stall for half a minute, and that is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // When so many fail, the stack is broken, and the others would each wait for their limit.
    bail: 20,
    // For two cores: a test waits half of its time.
    maxWorkers: 5,
    // in-process.ts links a program's modules itself.
    execArgv: ['--experimental-vm-modules'],
    projects: [
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: [...BROWSER, ...MODULES, DEEP],
          // GitHub's checker imports JSON the way bundlers do.
          server: { deps: { inline: [/@actions\//] } },
        },
      },
      { extends: true, test: { name: 'modules', include: MODULES, exclude: [DEEP], ...SHARED } },
      { extends: true, test: { name: 'browser', include: BROWSER, exclude: [DEEP], ...SHARED } },
      { extends: true, test: { name: 'deep', include: [DEEP] } },
    ],
  },
})

import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { drivesWorker, isBuilt, testsOf } from '../../testing/watch.ts'

test('a source runs the test that mirrors it, otherwise those of its folder; nothing else runs a test', () => {
  expect(testsOf(resolve('src/domain/instant.ts'))).toEqual(['test/domain/instant.test.ts'])
  expect(testsOf(resolve('dev/stand-in/store.ts'))).toEqual(['test/dev/stand-in/store.test.ts'])
  expect(testsOf(resolve('dev/stripe/account.ts'))).toContain('test/dev/stripe/webhooks.test.ts')
  expect(testsOf(resolve('cli/src/sign-in.ts'))).toEqual(['test/cli/sign-in.test.ts'])
  expect(testsOf(resolve('src/styles/app.css'))).toBeUndefined()
  expect(testsOf(resolve('test/domain/instant.test.ts'))).toBeUndefined()
})

test('browser and socket tests wait for the built Worker; a rule’s test does not', () => {
  const tests = globSync('test/{e2e,contract/cable}/**/*.test.ts')
  expect(tests.length).toBeGreaterThan(20)
  expect(tests.filter((path) => !drivesWorker(resolve(path)))).toEqual([])
  expect(drivesWorker(resolve('test/domain/instant.test.ts'))).toBe(false)
})

test('the Worker is built from src, db and public, the command line from its own src', () => {
  const built = [
    'src/server/app.ts',
    'db/schema/fleet.ts',
    'public/favicon.svg',
    'cli/src/start.ts',
    'dist/worker/index.js',
    'cli/dist/proving-ground.js',
    'test/db/client.test.ts',
  ]
  expect(built.filter((path) => isBuilt(resolve(path)))).toHaveLength(4)
})

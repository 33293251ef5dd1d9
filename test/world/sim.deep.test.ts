import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import './faster-drizzle.ts'
import { openWorldDatabase } from './database.ts'
import { runSeed } from './run-seed.ts'
import { takeOverRandomness } from './seeded-crypto.ts'

test('500 worlds break no rule, and reach every rare state often enough', { timeout: 1_800_000 }, async () => {
  const play = promisify(execFile)(process.execPath, ['test/world/sim.ts', '--seeds', '500'])
  const { stdout, code } = await play.then(
    ({ stdout }) => ({ stdout, code: 0 }),
    (failure: { stdout: string; code: number }) => failure,
  )
  expect(code, stdout).toBe(0)
  expect(stdout).toContain('500 seeds, 0 broken')
})

const WANTED = ['end set by its user', 'end moved', 'end extended by the email', 'warned of an end', 'cut for EC2']

test('no rule breaks in years of twelve people, with ends, extensions, and records of EC2 that differ', async () => {
  takeOverRandomness()
  const database = await openWorldDatabase()
  const missing = new Set(WANTED)
  // One year rarely has all of it.
  for (let seed = 1; missing.size > 0 && seed <= 10; seed++) {
    const { broken, reached } = await runSeed(database, seed, 'year')
    expect(broken, `npm run sim -- --seed ${seed} --scenario year --trace`).toBeNull()
    for (const [state, times] of reached) if (times > 0) missing.delete(state)
  }
  expect([...missing]).toEqual([])
}, 1_800_000)

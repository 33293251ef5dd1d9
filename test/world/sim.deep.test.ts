import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import '../../testing/stack/faster-drizzle.ts'
import { openWorldDatabase, type WorldDatabase } from './database.ts'
import { play } from './play.ts'
import { scheduleOf } from './run-seed.ts'
import { takeOverRandomness } from './seeded-crypto.ts'

/** Plays worlds in processes of their own. */
const sim = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['test/world/sim.ts', ...args]).then(
    ({ stdout }) => ({ stdout, code: 0 }),
    (failure: { stdout: string; code: number }) => failure,
  )

/** Enough to reach each rare state. More are a command of their own: docs/correctness.md. */
const WORLDS = [
  ['ordinary', 200, 66],
  ['files', 50, 1],
  ['programs', 50, 1],
  ['accounts', 100, 1],
] as const

test.each(WORLDS)(
  '%s: %i worlds break no rule, and reach every rare state often enough',
  {
    timeout: 1_800_000,
  },
  async (scenario, seeds, from) => {
    const { stdout, code } = await sim('--scenario', scenario, '--seeds', `${seeds}`, '--from', `${from}`)
    expect(code, stdout).toBe(0)
    expect(stdout).toContain(`${seeds} seeds, 0 broken`)
  },
)

test('the same seed plays the same world, call by call, on libSQL and on the faster SQLite', async () => {
  takeOverRandomness()
  const database = await openWorldDatabase()
  const libsql = await openWorldDatabase('libsql')
  const played = async (on: WorldDatabase, seed: number) => {
    const lines: string[] = []
    await play(on, scheduleOf(seed), (line) => lines.push(line))
    return [...lines, ...Object.values(await on.read()).flatMap((rows) => rows.map((row) => JSON.stringify(row)))]
  }
  for (const seed of [1, 7, 19]) {
    // The first time, modules that load when needed let other calls go first.
    await played(database, seed)
    const first = await played(database, seed)
    expect(first.length).toBeGreaterThan(100)
    for (const second of [await played(database, seed), await played(libsql, seed)]) {
      const at = first.findIndex((line, i) => line !== second[i])
      expect([first[at], second[at]]).toEqual([undefined, undefined])
      expect(second.length).toBe(first.length)
    }
  }
})

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('500 worlds break no rule, and reach every rare state often enough', { timeout: 1_800_000 }, async () => {
  const play = promisify(execFile)(process.execPath, ['test/world/sim.ts', '--seeds', '500'])
  const { stdout, code } = await play.then(
    ({ stdout }) => ({ stdout, code: 0 }),
    (failure: { stdout: string; code: number }) => failure,
  )
  expect(code, stdout).toBe(0)
  expect(stdout).toContain('500 seeds, 0 broken')
})

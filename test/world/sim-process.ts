import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Seed 2 is a calm morning. */
export const MORNING = ['--scenario', 'competition', '--seed', '2']

/** Plays worlds in a process of its own. */
export const sim = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['test/world/sim.ts', ...args]).then(
    ({ stdout }) => ({ stdout, code: 0 }),
    (failure: { stdout: string; code: number }) => failure,
  )

import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasPrograms } from '../../testing/stack/programs.ts'

const FOLDER = join(import.meta.dirname, 'agent')

/** @returns what it printed, and its exit code in the last line */
function python(...args: string[]): Promise<string> {
  const child = spawn('python3', ['-B', ...args], { cwd: FOLDER })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  return new Promise((resolve) => child.once('close', (code) => resolve(`${said}\n${code}`)))
}

describe.skipIf(!hasPrograms('python3'))('the agent of a machine, in the tests of its own language', () => {
  test.each(readdirSync(FOLDER).filter((name) => name.startsWith('test_')))('%s', async (name) => {
    expect(await python('-m', 'unittest', name)).toMatch(/^Ran [1-9]\d* tests?[\s\S]*\nOK\n\n0$/m)
  })
})

import { join } from 'node:path'
import { vi } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
let runs = 0

/**
 * Runs one of our scripts with these words in this process, which has its modules already: a Node of its own takes a
 * second to read them. One at a time, as the script finds its words, folder, and environment where every program does.
 */
export async function runScript(script: string, words: string[], env: NodeJS.ProcessEnv, cwd = ROOT) {
  const { argv, env: before, exitCode } = process
  const folder = process.cwd()
  const said: string[] = []
  const spies = (['log', 'error'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((text: string) => void said.push(text)),
  )
  Object.assign(process, { argv: [process.execPath, script, ...words], env, exitCode: 0 })
  const exits = vi.spyOn(process, 'exit').mockImplementation((code) => {
    process.exitCode = code
    throw exits
  })
  process.chdir(cwd)
  try {
    // The query makes it begin anew.
    await import(/* @vite-ignore */ `${join(ROOT, script)}?${runs++}`).catch((error) => {
      if (error !== exits) throw error
    })
    return { ok: process.exitCode === 0, said: said.join('\n') }
  } finally {
    process.chdir(folder)
    Object.assign(process, { argv, env: before, exitCode })
    for (const spy of [...spies, exits]) spy.mockRestore()
  }
}

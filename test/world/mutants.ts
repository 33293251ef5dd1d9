import { readdirSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyPatch, parsePatch } from 'diff'

const FOLDER = join(import.meta.dirname, 'mutants')
const ROOT = join(import.meta.dirname, '../..')

/** A mistake that someone could make, and the rule that it breaks: the first two lines of its patch. */
export type Mutant = { name: string; mistake: string; rule: string; patch: string }

export function listMutants(): Mutant[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.patch'))
    .sort()
    .map((file) => {
      const patch = readFileSync(join(FOLDER, file), 'utf8')
      const [mistake = '', rule = ''] = patch.split('\n', 2)
      return { name: file.replace('.patch', ''), mistake, rule, patch }
    })
}

/** The changed files, by path. @throws if the code has moved on and the patch no longer fits */
export function patched({ name, patch }: Mutant): Map<string, string> {
  return new Map(
    parsePatch(patch).map((one) => {
      const path = join(ROOT, (one.newFileName ?? '').replace(/^b\//, ''))
      const source = applyPatch(readFileSync(path, 'utf8'), one, { fuzzFactor: 1 })
      if (source === false) throw new Error(`${name}.patch no longer fits ${one.newFileName}.`)
      return [path, source]
    }),
  )
}

/** From now on, this process imports the code with this mistake. Nothing on disk changes. */
export function applyInMemory(name: string): void {
  const mutant = listMutants().find((one) => one.name === name)
  if (!mutant) throw new Error(`There is no mutant ${name}.`)
  const files = patched(mutant)
  registerHooks({
    load(url, context, next) {
      const source = url.startsWith('file:') ? files.get(fileURLToPath(url)) : undefined
      return source === undefined ? next(url, context) : { format: 'module-typescript', source, shortCircuit: true }
    },
  })
}

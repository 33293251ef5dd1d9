import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')

/** A mistake that someone could make, and the rule that it breaks. */
export type Mutant = {
  name: string
  mistake: string
  rule: string
  edits: { file: string; from: string; to: string }[]
}

export function listMutants(): Mutant[] {
  return parse(readFileSync(join(import.meta.dirname, 'mutants.yaml'), 'utf8'))
}

/** The changed files, by path. @throws if the code has moved on, and `from` isn't there or isn't there only once */
export function patched({ name, edits }: Mutant): Map<string, string> {
  const files = new Map<string, string>()
  for (const { file, from, to } of edits) {
    const path = join(ROOT, file)
    const [before = '', after, again] = (files.get(path) ?? readFileSync(path, 'utf8')).split(from)
    if (after === undefined || again !== undefined)
      throw new Error(`The planted mistake ${name} no longer fits ${file}: ${from}`)
    files.set(path, before + to + after)
  }
  return files
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

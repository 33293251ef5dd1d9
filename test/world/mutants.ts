import { readFileSync } from 'node:fs'
import { type LoadHookSync, type ResolveHookSync, registerHooks, stripTypeScriptTypes } from 'node:module'
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

/** What a mistake's modules share with all others: which numbers come next. */
const SHARED = join(ROOT, 'test/world/seeded-crypto.ts')
const QUERY = '?mistake='
const planted = new Map<string, Map<string, string>>()
const stripped = new Map<string, string>()

/**
 * Plants a mistake in the module that is imported with this behind its name, and in all of ours that it imports. They
 * are loaded for it once more, and libraries aren't. Nothing on disk changes.
 */
export function plant(name: string): string {
  const mutant = listMutants().find((one) => one.name === name)
  if (!mutant) throw new Error(`There is no mutant ${name}.`)
  if (planted.size === 0) registerHooks({ resolve, load })
  planted.set(name, patched(mutant))
  return QUERY + name
}

const resolve: ResolveHookSync = (specifier, context, next) => {
  const [importer, name] = context.parentURL?.split(QUERY) ?? []
  if (name === undefined) return next(specifier, context)
  const found = next(specifier, { ...context, parentURL: importer })
  const path = found.url.startsWith('file:') ? fileURLToPath(found.url) : SHARED
  return path === SHARED || path.includes('/node_modules/') ? found : { ...found, url: found.url + QUERY + name }
}

const load: LoadHookSync = (url, context, next) => {
  const [, name] = url.split(QUERY)
  const path = name === undefined ? '' : fileURLToPath(url)
  if (name === undefined || !path.endsWith('.ts')) return next(url, context)
  const changed = planted.get(name)?.get(path)
  const source = changed === undefined ? stripped.get(path) : stripTypeScriptTypes(changed)
  if (source !== undefined) return { format: 'module', source, shortCircuit: true }
  stripped.set(path, stripTypeScriptTypes(readFileSync(path, 'utf8')))
  return load(url, context, next)
}

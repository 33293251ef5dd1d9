import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { DIST } from '../dev/stack.ts'

type Manifest = Record<string, { file: string; imports?: string[]; dynamicImports?: string[] }>

const WORKER = join(DIST, 'worker')
const manifest = JSON.parse(readFileSync(join(DIST, 'client/manifest.json'), 'utf8')) as Manifest

/** kB (1000 bytes) after gzip at its best level, each file on its own, as it is sent. */
export function gzKb(...contents: (string | Buffer)[]): number {
  return contents.reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0) / 1000
}

/** A file, by the path the browser requests. */
export function clientFile(address: string): Buffer {
  return readFileSync(join(DIST, 'client', address))
}

/** What loads when these sources are imported: their files and those files' static imports. */
export function scriptsOf(...sources: string[]): string[] {
  const found = new Set<string>()
  const visit = (key: string) => {
    const entry = manifest[key]
    if (!entry) throw new Error(`The build has no ${key}`)
    if (found.has(entry.file)) return
    found.add(entry.file)
    entry.imports?.forEach(visit)
  }
  sources.forEach(visit)
  return [...found]
}

/** Every file the Worker is deployed with. */
export function workerFiles(): Buffer[] {
  const files = readdirSync(WORKER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
  return files.map(workerFile)
}

/** Only the entry and its static imports. */
export function startUpFiles(): Buffer[] {
  const found = new Set(['index.js'])
  for (const file of found)
    for (const [, imported = ''] of workerFile(file)
      .toString()
      .matchAll(/(?:from|import)\s*"(\.[^"]+)"/g))
      found.add(join(dirname(file), imported))
  return [...found].map(workerFile)
}

function workerFile(file: string): Buffer {
  return readFileSync(join(WORKER, file))
}

import { globSync } from 'node:fs'
import { resolve } from 'node:path'

/** What the files of db/schema export. */
export async function readSchema(): Promise<Record<string, unknown>> {
  const files = globSync(resolve(import.meta.dirname, '../../db/schema/*.ts'))
  return Object.assign({}, ...(await Promise.all(files.map((file) => import(file)))))
}

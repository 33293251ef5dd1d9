import { readdir, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { inText } from '../../../src/domain/file-names.ts'
import { EXIT, Failure } from '../failure.ts'

export type LocalFile = { path: string; file: string; size: number; modifiedAt: number }

/** What a download is called until it is whole: each version of a file has its own. */
export const partOf = (file: string, version: string): string => `${file}.${version.slice(0, 8)}.part`
const PART = /\.[0-9a-f]{8}\.part$/

/** Everything below a folder, with paths as the site has them. Links, devices, and halves of downloads stay here. */
export async function listLocal(folder: string, below = ''): Promise<LocalFile[]> {
  const found: LocalFile[] = []
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below ? `${below}/${entry.name}` : entry.name
    if (entry.isDirectory()) found.push(...(await listLocal(folder, path)))
    if (!entry.isFile() || PART.test(entry.name)) continue
    const file = join(folder, path)
    const { size, mtimeMs } = await stat(file)
    found.push({ path: path.normalize('NFC'), file, size, modifiedAt: mtimeMs })
  }
  return found
}

/**
 * Where a file of this path goes. Programs with the files' credentials may write any key, so a name may try to lead out of the
 * folder. @throws Failure
 */
export function placeIn(folder: string, path: string): string {
  const place = resolve(folder, path)
  const segments = path.split(sep === '\\' ? /[\\/]/ : '/')
  const leadsOut = isAbsolute(path) || segments.some((one) => one === '..' || one === '.' || one === '')
  if (leadsOut || !place.startsWith(resolve(folder) + sep))
    throw new Failure(EXIT.refused, `"${inText(path)}" would lead out of the folder. Rename it first.`)
  return place
}

export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

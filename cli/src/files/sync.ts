import { rm } from 'node:fs/promises'
import { sizeText } from '../../../src/domain/files.ts'
import type { Site } from '../site.ts'
import { liveLine } from '../terminal.ts'
import { listLocal, placeIn } from './local.ts'
import { joined, listBelow, remove } from './remote.ts'
import { getFile, type OnBytes, putFile } from './transfer.ts'

const AT_ONCE = 4

export type Synced = { copied: number; same: number; deleted: number }

/** Uploads what is new or newer here. With `mirror`, also deletes there what is not here. */
export async function syncUp(site: Site, folder: string, to: string, mirror: boolean): Promise<Synced> {
  const [here, there] = [await listLocal(folder), await listBelow(site, to)]
  const known = new Map(there.map((file) => [file.path, file]))
  const changed = here.filter(({ path, size, modifiedAt }) => {
    const same = known.get(path)
    return same === undefined || same.size !== size || modifiedAt > same.modifiedAt
  })
  await together(changed, (file, onBytes) => putFile(site, file.file, joined(to, file.path), onBytes))
  const paths = new Set(here.map(({ path }) => path))
  const extra = mirror ? there.filter(({ path }) => !paths.has(path)) : []
  for (const { path } of extra) await remove(site, joined(to, path))
  return { copied: changed.length, same: here.length - changed.length, deleted: extra.length }
}

/** Downloads what is new or newer there. With `mirror`, also deletes here what is not there. */
export async function syncDown(site: Site, from: string, folder: string, mirror: boolean): Promise<Synced> {
  const there = await listBelow(site, from)
  const placed = there.map((file) => ({ ...file, to: placeIn(folder, file.path) }))
  const here = await listLocal(folder).catch(() => [])
  const known = new Map(here.map((file) => [file.path, file]))
  const changed = placed.filter(({ path, size, modifiedAt }) => {
    const same = known.get(path)
    return same === undefined || same.size !== size || modifiedAt > same.modifiedAt + 1000
  })
  await together(changed, (file, onBytes) =>
    getFile(site, { path: joined(from, file.path), from: file, to: file.to, onBytes }),
  )
  const paths = new Set(there.map(({ path }) => path))
  const extra = mirror ? here.filter(({ path }) => !paths.has(path)) : []
  for (const { file } of extra) await rm(file)
  return { copied: changed.length, same: there.length - changed.length, deleted: extra.length }
}

/** Several files at once, with one line that says how far they are. Stops at the first failure. */
export async function together<T extends { path: string; size: number }>(
  files: T[],
  transfer: (file: T, onBytes: OnBytes) => Promise<void>,
): Promise<void> {
  const line = liveLine(process.stderr)
  const total = files.reduce((sum, { size }) => sum + size, 0)
  let [bytes, done] = [0, 0]
  const show = () => {
    if (process.stderr.isTTY) line.show(`${done} of ${files.length} files`, `${sizeText(bytes)} of ${sizeText(total)}`)
  }
  const left = files.values()
  const lane = async () => {
    for (const file of left) {
      await transfer(file, (more) => {
        bytes += more
        show()
      })
      done++
      show()
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
  } finally {
    line.clear()
  }
}

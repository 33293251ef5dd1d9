import type { FileRemovalRow } from '../../../db/schema/files.ts'
import { isMishap } from '../mishaps.ts'

type Ask = {
  userId: string
  path: string
  /** Written or removed meanwhile. */
  touched: Set<string>
  /** No other request of theirs ran at the same time. */
  isAlone: boolean
}

/** Whether a deletion of `path` takes this file: only a folder's takes more than itself. */
const takes = (path: string, file: string) => (path.endsWith('/') ? file.startsWith(path) : file === path)

/**
 * What must be in the bucket, whatever the product's rows say. Every content has a size of its own. Where nobody can
 * know, because two things happened at once or an answer was lost, nothing must be there.
 */
export class KeptFiles {
  #sure = new Map<string, Map<string, { size: number; writtenAt: number }>>()
  #asks = new Set<Ask>()
  #removals: () => FileRemovalRow[]
  #now: () => number

  constructor(removals: () => FileRemovalRow[], now: () => number) {
    this.#removals = removals
    this.#now = now
  }

  /** What someone can rely on now, by path. */
  of(userId: string): Map<string, number> {
    return new Map([...this.#all(userId)].map(([path, { size }]) => [path, size]))
  }

  /** The bucket has it. */
  wrote(userId: string, path: string, size: number): void {
    const isSure = this.#touch(userId, path)
    if (isSure) this.#all(userId).set(path, { size, writtenAt: this.#now() })
    else this.#all(userId).delete(path)
  }

  removed(userId: string, path: string): void {
    this.#touch(userId, path)
    this.#all(userId).delete(path)
  }

  /** All of it may be gone: the account was closed, or its files went with its plan. */
  forget(userId: string): void {
    this.#sure.delete(userId)
  }

  /** These, and what was written since, may be gone: they passed the limit. */
  forgetThese(userId: string, paths: string[], since: number): void {
    const all = this.#all(userId)
    for (const [path, { writtenAt }] of all) if (writtenAt > since || paths.includes(path)) all.delete(path)
  }

  /** Until its answer, nobody can rely on what it takes; after a refusal, everything is as it was. */
  async deletes(userId: string, path: string, run: () => Promise<unknown>): Promise<void> {
    const others = [...this.#asks].filter((ask) => ask.userId === userId)
    const ask: Ask = { userId, path, touched: new Set(), isAlone: others.length === 0 }
    for (const other of others) other.isAlone = false
    const taken = [...this.#all(userId)].filter(([file]) => takes(path, file))
    for (const [file] of taken) this.#all(userId).delete(file)
    this.#asks.add(ask)
    try {
      await run()
    } catch (error) {
      if (!isMishap(error) && ask.isAlone)
        for (const [file, kept] of taken) if (!ask.touched.has(file)) this.#all(userId).set(file, kept)
      throw error
    } finally {
      this.#asks.delete(ask)
    }
  }

  #all(userId: string): Map<string, { size: number; writtenAt: number }> {
    const known = this.#sure.get(userId) ?? new Map<string, { size: number; writtenAt: number }>()
    this.#sure.set(userId, known)
    return known
  }

  /** @returns whether nothing else is happening to this path */
  #touch(userId: string, path: string): boolean {
    const asks = [...this.#asks].filter((ask) => ask.userId === userId && takes(ask.path, path))
    for (const ask of asks) ask.touched.add(path)
    // In the very moment of a deletion, nobody can say which was first.
    const isGoing = this.#removals().some(
      (row) => row.userId === userId && `files/${path}`.startsWith(row.place) && row.acceptedAt >= this.#now(),
    )
    return asks.length === 0 && !isGoing
  }
}

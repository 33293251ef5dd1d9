import type { FileMoveRow } from '../../../db/schema.ts'
import { isWithin } from '../../../src/domain/files.ts'
import { isMishap } from '../mishaps.ts'

type Ask = {
  userId: string
  paths: string[]
  /** Written or removed meanwhile. */
  touched: Set<string>
  /** No other request of theirs ran at the same time. */
  isAlone: boolean
}

/**
 * What must be in the bucket, whatever the product's rows say. Every content has a size of its own. Where nobody can
 * know, because two things happened at once or an answer was lost, nothing must be there.
 */
export class KeptFiles {
  #sure = new Map<string, Map<string, number>>()
  #asks = new Set<Ask>()
  /** What each accepted deletion took away, by the path below the deleted one. */
  #deleted = new Map<string, Map<string, number>>()
  #moves: () => FileMoveRow[]

  constructor(moves: () => FileMoveRow[]) {
    this.#moves = moves
  }

  /** What someone can rely on now, by path. */
  of(userId: string): Map<string, number> {
    const moves = this.#moves().filter((move) => move.userId === userId && move.doneAt === null)
    return new Map([...this.#all(userId)].filter(([path]) => !moves.some((move) => touches(move, path))))
  }

  /** The bucket has it. */
  wrote(userId: string, path: string, size: number): void {
    const isSure = this.#touch(userId, path)
    if (isSure) this.#all(userId).set(path, size)
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

  async deletes(userId: string, path: string, run: () => Promise<{ id: string }>): Promise<void> {
    await this.#changes(userId, [path], run, ({ id }, taken) => void this.#deleted.set(id, below(taken, path)))
  }

  async renames(userId: string, path: string, to: string, run: () => Promise<unknown>): Promise<void> {
    await this.#changes(userId, [path, to], run, (_, taken) => {
      this.#put(userId, to, below(taken, path))
      // Nothing may be replaced.
      this.#put(userId, to, below(taken, to))
    })
  }

  async undoes(userId: string, id: string, from: string, run: () => Promise<{ path: string }>): Promise<void> {
    const taken = this.#deleted.get(id)
    this.#deleted.delete(id)
    await this.#changes(userId, [from], run, ({ path }, here, isAlone) => {
      this.#put(userId, from, below(here, from))
      if (taken && isAlone) this.#put(userId, path, taken)
    })
  }

  /** Until its answer, nobody can rely on these paths; after a refusal, everything is as it was. */
  async #changes<T>(
    userId: string,
    paths: string[],
    run: () => Promise<T>,
    done: (answer: T, taken: Map<string, number>, isAlone: boolean) => void,
  ): Promise<void> {
    const others = [...this.#asks].filter((ask) => ask.userId === userId)
    const ask: Ask = { userId, paths, touched: new Set(), isAlone: others.length === 0 }
    for (const other of others) other.isAlone = false
    const taken = new Map([...this.#all(userId)].filter(([path]) => paths.some((one) => isWithin(path, one))))
    for (const path of taken.keys()) this.#all(userId).delete(path)
    this.#asks.add(ask)
    const untouched = () => {
      this.#asks.delete(ask)
      return ask.isAlone ? new Map([...taken].filter(([path]) => !ask.touched.has(path))) : new Map<string, number>()
    }
    try {
      const answer = await run()
      done(answer, untouched(), ask.isAlone)
    } catch (error) {
      const left = untouched()
      if (!isMishap(error)) this.#put(userId, '', left)
      throw error
    }
  }

  #all(userId: string): Map<string, number> {
    const known = this.#sure.get(userId) ?? new Map<string, number>()
    this.#sure.set(userId, known)
    return known
  }

  #put(userId: string, at: string, files: Map<string, number>): void {
    for (const [path, size] of files) this.#all(userId).set(join(at, path), size)
  }

  /** @returns whether nothing else is happening to this path */
  #touch(userId: string, path: string): boolean {
    const asks = [...this.#asks].filter(
      (ask) => ask.userId === userId && ask.paths.some((one) => isWithin(path, one) || isWithin(one, path)),
    )
    for (const ask of asks) ask.touched.add(path)
    const moves = this.#moves().filter((move) => move.userId === userId && move.doneAt === null && touches(move, path))
    // What is written into a folder that is being moved moves with it, and replaces what moved before.
    for (const { source, target } of moves) {
      const rest = `files/${path}`.slice(source.length)
      if (target?.startsWith('files/')) this.#all(userId).delete(target.slice(6) + rest)
      if (target?.startsWith('trash/')) this.#deleted.get(target.slice(6))?.delete(rest.replace(/^\//, ''))
    }
    return asks.length === 0 && moves.length === 0
  }
}

function touches({ source, target }: FileMoveRow, path: string): boolean {
  return [source, target].some(
    (place) => place !== null && (isWithin(`files/${path}`, place) || isWithin(place, `files/${path}`)),
  )
}

const join = (folder: string, path: string) => (folder && path ? `${folder}/${path}` : folder || path)

/** By the path below the folder; '' is a file of that name itself. */
const below = (files: Map<string, number>, folder: string) =>
  new Map(
    [...files].flatMap(([path, size]) =>
      isWithin(path, folder) ? [[path.slice(folder.length).replace(/^\//, ''), size] as const] : [],
    ),
  )

import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

type Change = [collection: string, id: string, value: unknown]

/**
 * Collections of JSON objects that survive a kill at any instant. Each commit appends one line before we answer, and a
 * truncated line is a commit that never happened. Opening the store compacts the lines into a new file. Without a file,
 * it is kept in memory only.
 */
export class Store {
  private readonly collections = new Map<string, Map<string, unknown>>()
  private readonly file: string | null
  private pending: Change[] = []

  constructor(file: string | null) {
    this.file = file
    if (file === null) return
    mkdirSync(dirname(file), { recursive: true })
    if (!existsSync(file)) return
    // The last newline ends the last full commit.
    for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) this.replay(line)
    const folded = [...this.collections].map(([name, objects]) =>
      JSON.stringify([...objects].map(([id, value]) => [name, id, value])),
    )
    writeFileSync(`${file}.new`, folded.map((line) => `${line}\n`).join(''))
    renameSync(`${file}.new`, file)
  }

  private replay(line: string): void {
    try {
      for (const change of JSON.parse(line) as Change[]) this.apply(change)
    } catch (cause) {
      throw new Error(`${this.file} cannot be read. Delete it to start with nothing.`, { cause })
    }
  }

  private apply([name, id, value]: Change): void {
    const objects = this.collection(name)
    if (value === null) objects.delete(id)
    else objects.set(id, value)
  }

  private collection(name: string): Map<string, unknown> {
    const objects = this.collections.get(name) ?? new Map<string, unknown>()
    this.collections.set(name, objects)
    return objects
  }

  get<T>(name: string, id: string): T | undefined {
    return this.collection(name).get(id) as T | undefined
  }

  /** In creation order. */
  all<T>(name: string): T[] {
    return [...this.collection(name).values()] as T[]
  }

  entries<T>(name: string): [id: string, value: T][] {
    return [...this.collection(name)] as [string, T][]
  }

  put(name: string, id: string, value: unknown): void {
    this.apply([name, id, value])
    this.pending.push([name, id, value])
  }

  remove(name: string, id: string): void {
    this.put(name, id, null)
  }

  /** Writes all pending changes as one line. */
  commit(): void {
    if (this.pending.length > 0 && this.file !== null) appendFileSync(this.file, `${JSON.stringify(this.pending)}\n`)
    this.pending = []
  }
}

import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Change = [collection: string, id: string, value: unknown]

/**
 * Collections of JSON objects that survive a kill at any instant: a commit is one appended line, written before the answer
 * leaves, so that a line cut short is a commit that never happened. Opening the store folds the lines into a new file.
 */
export class Store {
  private readonly collections = new Map<string, Map<string, unknown>>()
  private readonly file: string
  private pending: Change[] = []

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true })
    this.file = join(directory, 'stripe.jsonl')
    if (!existsSync(this.file)) return
    for (const line of readFileSync(this.file, 'utf8').split('\n')) this.replay(line)
    const folded = [...this.collections].map(([name, objects]) =>
      JSON.stringify([...objects].map(([id, value]) => [name, id, value])),
    )
    writeFileSync(`${this.file}.new`, `${folded.join('\n')}\n`)
    renameSync(`${this.file}.new`, this.file)
  }

  private replay(line: string): void {
    let changes: Change[]
    try {
      changes = JSON.parse(line)
    } catch {
      return
    }
    for (const change of changes) this.apply(change)
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

  /** In the order of their creation. */
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

  /** Everything put since the last commit, at once. */
  commit(): void {
    if (this.pending.length === 0) return
    appendFileSync(this.file, `${JSON.stringify(this.pending)}\n`)
    this.pending = []
  }
}

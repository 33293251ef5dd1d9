import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { DurableObjectStorage } from '@cloudflare/workers-types'

/** A Durable Object's SQLite, in memory. @param onWrite called before each statement that writes rows */
export function objectStorage(onWrite = () => {}): DurableObjectStorage {
  const database = new DatabaseSync(':memory:')
  const exec = (query: string, ...values: SQLInputValue[]) => {
    if (/^(INSERT|DELETE)/.test(query)) onWrite()
    const rows = database.prepare(query).all(...values)
    return Object.assign(rows.values(), { toArray: () => rows })
  }
  return { sql: { exec } } as unknown as DurableObjectStorage
}

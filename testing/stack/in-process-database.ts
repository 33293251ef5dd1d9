import { createClient } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql'
import type { Database } from '../../db/client.ts'
import { migrateDatabase } from '../../db/migrate.ts'
import * as schema from '../../db/schema.ts'

/** libSQL inside this process, the same SQL without the way over HTTP: for simulations that ask it a million times. */
export async function inProcessDatabase(path: string) {
  const url = `file:${path}`
  await migrateDatabase(url)
  // One connection: what is set on it holds for every call. No crash of the machine is simulated.
  const client = createClient({ url, concurrency: 1 })
  await client.executeMultiple('PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  return { url, db: drizzle(client, { schema }) as Database, close: async () => client.close() }
}

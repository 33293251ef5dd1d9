import { createClient } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql'
import type { Database } from '../../db/client.ts'
import { migrateDatabase } from '../../db/migrate.ts'
import * as schema from '../../db/schema.ts'

/** libSQL inside this process: the same SQL without HTTP, for simulations that call it a million times. */
export async function inProcessDatabase(path: string) {
  const url = `file:${path}`
  await migrateDatabase(url)
  // One connection, so its settings apply to every call. We simulate no crash of the machine.
  const client = createClient({ url, concurrency: 1 })
  await client.executeMultiple('PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  return { url, db: drizzle(client, { schema }) as Database, close: async () => client.close() }
}

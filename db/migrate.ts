import { createClient } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql'
import { migrate } from 'drizzle-orm/libsql/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { breaksRunningVersion } from './expand-only.ts'
import journal from './migrations/meta/_journal.json' with { type: 'json' }

const migrationsFolder = new URL('./migrations', import.meta.url).pathname

/** Applies the missing migrations. Safe to repeat. */
export async function migrateDatabase(url: string, authToken?: string): Promise<void> {
  const client = createClient({ url, ...(authToken ? { authToken } : {}) })
  try {
    await migrate(drizzle(client), { migrationsFolder })
  } finally {
    client.close()
  }
}

/**
 * Applies the missing migrations to a database in use by a running version of the site.
 * @returns their names
 * @throws sentences, if they would break that version; then it applies none
 */
export async function expandDatabase(url: string, authToken?: string): Promise<string[]> {
  const client = createClient({ url, ...(authToken ? { authToken } : {}) })
  try {
    const known = await client.execute(`SELECT name FROM sqlite_master WHERE name = '__drizzle_migrations'`)
    const last = known.rows.length
      ? await client.execute('SELECT max(created_at) AS at FROM __drizzle_migrations')
      : null
    const since = Number(last?.rows[0]?.at ?? 0)
    const missing = readMigrationFiles({ migrationsFolder }).filter(({ folderMillis }) => folderMillis > since)
    const statements = missing.flatMap(({ sql }) => sql)
    const breaks = await breaksRunningVersion(client, statements)
    if (breaks.length)
      throw new Error(['We applied no migration, because the running version would break.', ...breaks].join('\n'))
    await migrateDatabase(url, authToken)
    return journal.entries.filter(({ when }) => when > since).map(({ tag }) => tag)
  } finally {
    client.close()
  }
}

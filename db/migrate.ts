import { type Client, createClient } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql'
import { migrate } from 'drizzle-orm/libsql/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { AppError } from '../src/domain/error.ts'
import { breaksRunningVersion } from './expand-only.ts'
import journal from './migrations/meta/_journal.json' with { type: 'json' }

const migrationsFolder = new URL('./migrations', import.meta.url).pathname

/** The last commit that has the 76 migrations which 0000 replaced. */
const HAS_EARLIER = '81b7bae3'

/** When the last applied migration was made; 0: none was. @throws conflict, if we no longer have those that are missing */
async function lastApplied(client: Client): Promise<number> {
  const known = await client.execute(`SELECT name FROM sqlite_master WHERE name = '__drizzle_migrations'`)
  if (!known.rows.length) return 0
  const { rows } = await client.execute('SELECT max(created_at) AS at FROM __drizzle_migrations')
  const last = Number(rows[0]?.at ?? 0)
  if (last && journal.entries.every(({ when }) => when > last))
    throw new AppError(
      'conflict',
      `This database lacks migrations that this version no longer has. To keep it, check out commit ${HAS_EARLIER}, run "npm ci" and "npm run db:migrate" there, and try again here. Otherwise, make a new database.`,
    )
  return last
}

/** Applies the missing migrations. Safe to repeat. @throws conflict, if we no longer have them */
export async function migrateDatabase(url: string, authToken?: string): Promise<void> {
  const client = createClient({ url, ...(authToken ? { authToken } : {}) })
  try {
    await lastApplied(client)
    await migrate(drizzle(client), { migrationsFolder })
  } finally {
    client.close()
  }
}

/**
 * Applies the missing migrations to a database in use by a running version of the site.
 * @returns their names
 * @throws sentences, if they would break that version or we no longer have them; then it applies none
 */
export async function expandDatabase(url: string, authToken?: string): Promise<string[]> {
  const client = createClient({ url, ...(authToken ? { authToken } : {}) })
  try {
    const since = await lastApplied(client)
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

import { createClient } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql'
import { migrate } from 'drizzle-orm/libsql/migrator'

/** Applies the missing migrations. Safe to repeat. */
export async function migrateDatabase(url: string, authToken?: string): Promise<void> {
  const client = createClient({ url, ...(authToken ? { authToken } : {}) })
  try {
    await migrate(drizzle(client), { migrationsFolder: new URL('./migrations', import.meta.url).pathname })
  } finally {
    client.close()
  }
}

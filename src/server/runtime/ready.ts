import { sql } from 'drizzle-orm'
import type { Database } from '../../../db/client.ts'
import journal from '../../../db/migrations/meta/_journal.json' with { type: 'json' }
import { AppError } from '../../domain/error.ts'
import type { Context } from './context.ts'

/** Whether the database has this build's newest migration. A newer database is fine: migrations only add. */
export async function isMigrated(db: Database): Promise<boolean> {
  const newest = Math.max(...journal.entries.map(({ when }) => when))
  const [row] = await db.all<{ at: number | null }>(sql`SELECT max(created_at) AS at FROM __drizzle_migrations`)
  return (row?.at ?? 0) >= newest
}

/** @throws unavailable */
export async function checkReady({ db }: Context): Promise<void> {
  if (await isMigrated(db)) return
  throw new AppError('unavailable', 'The database is older than this version of the site.', { retryable: true })
}

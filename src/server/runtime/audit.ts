import { type SQL, sql } from 'drizzle-orm'
import type { Database, Query } from '../../../db/client.ts'
import type { Act } from '../../domain/audit.ts'
import { newId } from '../crypto/id.ts'

/** Who acts, and why. */
type Actor = { id: string; reason: string }

/** An operator at work, in the console or with a script: a database, a clock, and who they are. */
export type Hand = {
  db: Database
  now: () => number
  by?: Actor
  /** The ID of the act's record, if a form chose it. A form sent twice acts once. */
  actId?: string
}

type Entry = {
  act: Act
  /** The ID of what they act on. */
  subject: string
  userId?: string | null
  detail?: Record<string, unknown>
}

/**
 * Inserts the record of an act, in the batch that does it.
 * @param when an SQL condition: the act happens only if it is true at that moment
 */
export function auditQuery(
  { db, now, by, actId }: Hand,
  { act, subject, userId, detail }: Entry,
  when: SQL = sql`1`,
): Query {
  return db.run(sql`INSERT INTO audit_log (id, at, actor, act, subject, user_id, reason, detail)
    SELECT ${actId ?? newId('act')}, ${now()}, ${by?.id ?? 'script'}, ${act}, ${subject}, ${userId ?? null}, ${by?.reason ?? ''},
      ${detail ? JSON.stringify(detail) : null} WHERE ${when}`)
}

import { sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { HOUR_MS } from '../../domain/instant.ts'
import type { Context } from '../context.ts'
import { composeMail } from './letter.ts'
import { mailQuery } from './outbox.ts'

const EVERY_MS = HOUR_MS

/** Something that an operator must know soon. */
export type Alert = {
  /** At most one email an hour for each: `launch_refused:VcpuLimitExceeded`. */
  matter: string
  /** The email's subject: what happened. */
  subject: string
  /** What it means and what to do, one paragraph each. No personal data. */
  sentences: string[]
  /** Ids for the log. */
  fields?: Record<string, unknown>
}

/**
 * Logs the alert, and emails it to the operator at most once an hour per matter. Never throws: an alert that
 * can't be written must not undo the work that raised it.
 */
export async function alertOperator(
  ctx: Pick<Context, 'db' | 'now' | 'log' | 'config'>,
  { matter, subject, sentences, fields = {} }: Alert,
  error?: unknown,
): Promise<void> {
  ctx.log('alert', { matter, subject, ...fields }, error)
  const now = ctx.now()
  const due = sql`NOT EXISTS (SELECT 1 FROM alerts WHERE matter = ${matter} AND told_at > ${now - EVERY_MS})`
  try {
    await writeBatch(ctx.db, [
      mailQuery(ctx, ctx.config.operatorEmail, composeMail(subject, sentences), due),
      ctx.db.run(sql`INSERT INTO alerts (matter, told_at) SELECT ${matter}, ${now} WHERE ${due}
        ON CONFLICT (matter) DO UPDATE SET told_at = excluded.told_at`),
    ])
  } catch (cause) {
    ctx.log('alert_not_mailed', { matter }, cause)
  }
}

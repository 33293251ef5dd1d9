import { and, gt, inArray, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { alerts } from '../../../db/schema/operations.ts'
import { HOUR_MS } from '../../domain/instant.ts'
import type { Context } from '../runtime/context.ts'
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

/** Something that lasts until someone acts or it resolves itself: a job that keeps failing, a fleet without a free place. */
export type Lasting = {
  /** One for each thing: `job_stuck:job_1`. */
  matters: string[]
  /** The email about those that are new. */
  alert: (fresh: string[]) => Omit<Alert, 'matter'>
}

/**
 * Emails the operator once when a matter begins, one email for all that begin together, and again only if it comes
 * back after an hour without it. Call it each minute while it lasts. Never throws, like `alertOperator`.
 */
export async function alertOnce(
  ctx: Pick<Context, 'db' | 'now' | 'log' | 'config'>,
  { matters, alert }: Lasting,
): Promise<void> {
  if (!matters.length) return
  const now = ctx.now()
  try {
    const known = await ctx.db
      .select({ matter: alerts.matter })
      .from(alerts)
      .where(and(inArray(alerts.matter, matters), gt(alerts.toldAt, now - EVERY_MS)))
    const told = new Set(known.map(({ matter }) => matter))
    const fresh = matters.filter((matter) => !told.has(matter))
    const seen = ctx.db
      .insert(alerts)
      .values(matters.map((matter) => ({ matter, toldAt: now })))
      .onConflictDoUpdate({ target: alerts.matter, set: { toldAt: now } })
    if (!fresh.length) {
      await seen
      return
    }
    const { subject, sentences, fields } = alert(fresh)
    ctx.log('alert', { matter: fresh[0], matters: fresh.length, subject, ...fields })
    // Two triggers at once: only the first finds them all untold.
    const due = sql`NOT EXISTS (SELECT 1 FROM alerts WHERE ${inArray(sql`matter`, fresh)} AND told_at > ${now - EVERY_MS})`
    await writeBatch(ctx.db, [mailQuery(ctx, ctx.config.operatorEmail, composeMail(subject, sentences), due), seen])
  } catch (cause) {
    ctx.log('alert_not_mailed', { matter: matters[0] }, cause)
  }
}

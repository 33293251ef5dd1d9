import { createHmac, randomBytes } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { keptKeys } from '../../../db/schema/accounts.ts'
import { mailboxOf } from '../../domain/mailbox.ts'
import { TRIAL_MINUTES } from '../../domain/money/plan.ts'
import { dueQuery } from '../billing/bills/close-cycles.ts'
import { newId } from '../crypto/id.ts'
import { deriveKeys } from '../crypto/keys.ts'
import { seal, unseal } from '../crypto/sealed.ts'
import { tellQueries } from '../mail/notices.ts'
import { noTrialMail } from '../mail/trial-letters.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'

/**
 * One trial per mailbox, ever. We remember a mailbox by its HMAC, so the database alone names nobody. The HMAC's key is
 * random and never changes: a new SECRET_KEY only encrypts it again. Otherwise a rotation would give everyone who closed
 * their account another trial.
 */

type KeyContext = Pick<Context, 'db' | 'config' | 'log'>

const BATCH = 500
const purpose = 'mailbox'
const sealOf = ({ config }: KeyContext) => ({ secretKey: config.secretKey, purpose, of: purpose }) as const

/** The HMAC of the mailbox that an address delivers to. */
export async function hashMailbox(ctx: KeyContext, email: string): Promise<string> {
  return hashWith(await getKey(ctx), email)
}

function hashWith(key: string, email: string): string {
  return createHmac('sha256', Buffer.from(key, 'base64url')).update(mailboxOf(email)).digest('base64url')
}

/** If two calls make the first key at once, one wins. */
async function getKey(ctx: KeyContext): Promise<string> {
  const read = async () => {
    const [row] = await ctx.db.select().from(keptKeys).where(eq(keptKeys.purpose, purpose))
    return row?.sealed ?? null
  }
  const known = await read()
  const key = known === null ? null : open(ctx, known)
  if (key !== null) return key
  await replaceKey(ctx, known)
  return unseal(sealOf(ctx), (await read()) ?? '')
}

function open(ctx: KeyContext, sealed: string): string | null {
  try {
    return unseal(sealOf(ctx), sealed)
  } catch (error) {
    ctx.log('mailbox_key_lost', {}, error)
    return null
  }
}

/** Open accounts get a new HMAC from their address. What we knew about closed ones is lost with the old key. */
async function replaceKey(ctx: KeyContext, lost: string | null): Promise<void> {
  const sealed = seal(sealOf(ctx), randomBytes(32).toString('base64url'))
  await writeBatch(ctx.db, [
    ctx.db.run(sql`INSERT INTO kept_keys (purpose, sealed) VALUES (${purpose}, ${sealed})
      ON CONFLICT (purpose) DO UPDATE SET sealed = excluded.sealed WHERE sealed = ${lost}`),
    ctx.db.run(sql`UPDATE users SET mailbox = NULL WHERE mailbox IS NOT NULL AND password_hash <> ''
      AND EXISTS (SELECT 1 FROM kept_keys WHERE sealed = ${sealed})`),
  ])
}

/** Encrypts the key with the current SECRET_KEY, so that you can drop an earlier one. Run by cron, every night. */
export async function renewMailboxKey(ctx: KeyContext): Promise<void> {
  const [{ id }] = deriveKeys(ctx.config.secretKey, purpose)
  const [row] = await ctx.db.select().from(keptKeys).where(eq(keptKeys.purpose, purpose))
  if (!row || row.sealed.startsWith(`${id}.`)) return
  const key = open(ctx, row.sealed)
  if (key === null) return replaceKey(ctx, row.sealed)
  await ctx.db.run(sql`UPDATE kept_keys SET sealed = ${seal(sealOf(ctx), key)} WHERE sealed = ${row.sealed}`)
}

/**
 * For the batch that confirms an address at `now`: remembers its mailbox, and starts the trial unless that mailbox had
 * one, in which case an email says so. Of two confirmations at once, the first to be written gets the trial.
 */
export function trialQueries(
  ctx: Pick<Context, 'db' | 'now' | 'config'>,
  { id, email, mailbox }: { id: string; email: string; mailbox: string },
  now: number,
): Query[] {
  const planId = newId('sub')
  const confirmed = sql`EXISTS (SELECT 1 FROM users WHERE id = ${id} AND confirmed_at = ${now} AND closed_at IS NULL)`
  const hasPlan = sql`EXISTS (SELECT 1 FROM subscriptions WHERE user_id = ${id})`
  const given = sql`EXISTS (SELECT 1 FROM subscriptions WHERE id = ${planId})`
  return [
    ctx.db.run(sql`UPDATE users SET mailbox = ${mailbox} WHERE id = ${id} AND confirmed_at = ${now}`),
    ctx.db.run(sql`
      INSERT INTO subscriptions (id, user_id, plan_type, sub_type, status, anchor, hours, created_at)
      SELECT ${planId}, ${id}, 'demo', 'demo', 'trialing', ${now}, ${TRIAL_MINUTES / 60}, ${now}
      WHERE ${confirmed} AND NOT ${hasPlan} AND NOT EXISTS (SELECT 1 FROM trials_given WHERE mailbox = ${mailbox})`),
    ctx.db.run(sql`INSERT INTO trials_given (mailbox, given_at)
      SELECT ${mailbox}, ${now} WHERE ${given} ON CONFLICT DO NOTHING`),
    // The trial ends the cycle before it, and a closing may have looked since the sign-up.
    dueQuery(ctx.db, id, now, given),
    ...tellQueries(
      ctx,
      { id, email },
      noTrialMail(siteOrigin(ctx)),
      sql`${confirmed} AND NOT ${hasPlan}`,
      `no_trial:${id}`,
    ),
  ]
}

/** Records the mailboxes of accounts from before we kept them, and that they had their trial. Run by cron. */
export async function recordMailboxes(ctx: KeyContext): Promise<void> {
  const rows = await ctx.db.all<{ id: string; email: string; trial_at: number | null }>(sql`
    SELECT id, email, (SELECT min(anchor) FROM subscriptions WHERE user_id = users.id AND sub_type = 'demo') AS trial_at
    FROM users WHERE mailbox IS NULL AND confirmed_at IS NOT NULL AND password_hash <> ''
    ORDER BY confirmed_at LIMIT ${BATCH}`)
  if (!rows.length) return
  const key = await getKey(ctx)
  const known = rows.map(({ id, email, trial_at }) => [id, hashWith(key, email), trial_at])
  const each = sql`json_each(${JSON.stringify(known)})`
  await writeBatch(ctx.db, [
    ctx.db.run(sql`INSERT OR IGNORE INTO trials_given (mailbox, given_at)
      SELECT value ->> 1, value ->> 2 FROM ${each} WHERE value ->> 2 IS NOT NULL`),
    ctx.db.run(sql`UPDATE users SET mailbox = one.value ->> 1 FROM ${each} AS one
      WHERE users.id = one.value ->> 0 AND users.mailbox IS NULL`),
  ])
}

import { and, asc, eq, inArray, lte, type SQL, sql } from 'drizzle-orm'
import { type OutboxRow, outbox } from '../../../db/schema.ts'
import { HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import { newId } from '../crypto/id.ts'
import type { Context } from '../runtime/context.ts'
import { isRecipientRefused } from './email-binding.ts'
import type { MailContent } from './letter.ts'

const AT_ONCE = 20
const FIRST_RETRY_MS = 30_000
const LONGEST_RETRY_MS = HOUR_MS
/** A claimed email is due again after this, in case its program ends before it was sent. */
const CLAIM_MS = 2 * MINUTE_MS
/** The longest that sending one may take: with less time left, we leave it to the next claim. */
const SEND_MS = MINUTE_MS
/** About a day and a half of trying. */
const MOST_ATTEMPTS = 40

type OutboxContext = Pick<Context, 'db' | 'now' | 'mailer' | 'log'>

/**
 * Inserts one email, in the batch of the change that causes it.
 * @param when an SQL condition: the email is only written if it is true at that moment
 * @param cause if given, the email is written only if no other has the same cause
 */
export function mailQuery(
  ctx: Pick<Context, 'db' | 'now'>,
  to: string | SQL,
  mail: MailContent,
  when: SQL = sql`1`,
  cause: string | null = null,
) {
  const now = ctx.now()
  return ctx.db.run(sql`
    INSERT INTO outbox (id, recipient, subject, text, html, reply_to, off_url, cause, act, created_at, attempts, send_at)
    SELECT ${newId('mail')}, ${to}, ${mail.subject}, ${mail.text}, ${mail.html}, ${mail.replyTo ?? null}, ${mail.offUrl ?? null}, ${cause}, ${mail.act ?? null}, ${now}, 0, ${now}
    WHERE ${when} ON CONFLICT (cause) DO NOTHING`)
}

/**
 * Sends what is due. Two runs may overlap: each claims a row by moving its next try, so that only one of them
 * sends it.
 */
export async function deliverMail(ctx: OutboxContext): Promise<void> {
  for (;;) {
    const claimed = await claim(ctx)
    for (const mail of claimed) await deliver(ctx, mail)
    if (claimed.length < AT_ONCE) return
  }
}

function claim(ctx: OutboxContext): Promise<OutboxRow[]> {
  const now = ctx.now()
  const due = ctx.db
    .select({ id: outbox.id })
    .from(outbox)
    .where(lte(outbox.sendAt, now))
    .orderBy(asc(outbox.sendAt))
    .limit(AT_ONCE)
  return ctx.db
    .update(outbox)
    .set({
      attempts: sql`attempts + 1`,
      sendAt: sql`CASE WHEN attempts + 1 >= ${MOST_ATTEMPTS} THEN NULL ELSE ${now + CLAIM_MS} END`,
    })
    .where(inArray(outbox.id, due))
    .returning()
}

async function deliver(ctx: OutboxContext, mail: OutboxRow): Promise<void> {
  if (mail.sendAt !== null && mail.sendAt - ctx.now() < SEND_MS) return
  try {
    const { recipient: to, subject, text, html, replyTo, offUrl } = mail
    await ctx.mailer.send({ to, subject, text, html, replyTo: replyTo ?? undefined, offUrl })
  } catch (error) {
    ctx.log('mail_failed', { mailId: mail.id, attempts: mail.attempts }, error)
    const retryAt = ctx.now() + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (mail.attempts - 1))
    const sendAt = isRecipientRefused(error) || mail.sendAt === null ? null : retryAt
    // Unless it took so long that another run has claimed it since.
    const isOurs = and(eq(outbox.id, mail.id), eq(outbox.attempts, mail.attempts))
    await ctx.db.update(outbox).set({ sendAt }).where(isOurs)
    return
  }
  // A sent email may contain a link that opens an account, so don't keep its text.
  const nothing = { text: '', html: '', replyTo: null, offUrl: null }
  await ctx.db
    .update(outbox)
    .set({ sentAt: ctx.now(), sendAt: null, ...nothing })
    .where(eq(outbox.id, mail.id))
}

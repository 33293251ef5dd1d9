import { and, asc, desc, eq, inArray, lte, type SQL, sql } from 'drizzle-orm'
import { type OutboxRow, outbox } from '../../../db/schema/mail.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/instant.ts'
import { newId } from '../crypto/id.ts'
import type { Context } from '../runtime/context.ts'
import { isRefusedForGood } from './email-binding.ts'
import type { MailContent } from './letter.ts'

const AT_ONCE = 20
const FIRST_RETRY_MS = 30_000
const LONGEST_RETRY_MS = HOUR_MS
/** A claimed email is due again after this, in case its program dies before sending it. */
const CLAIM_MS = 2 * MINUTE_MS
/** The longest that sending one may take. With less time left, we leave it to the next claim. */
const SEND_MS = MINUTE_MS
/** About a day and a half of trying. */
const MOST_ATTEMPTS = 40

type OutboxContext = Pick<Context, 'db' | 'now' | 'mailer' | 'log'>

/**
 * Inserts one email, in the batch of the change that causes it.
 * @param when an SQL condition: the email is only written if it is true at that moment
 * @param cause if given, the email is written only if no other has the same cause
 * @param isSent an SQL condition: otherwise, the row is only Activity's record
 */
export function mailQuery(
  ctx: Pick<Context, 'db' | 'now'>,
  to: string | SQL,
  mail: MailContent,
  when: SQL = sql`1`,
  cause: string | null = null,
  isSent: SQL = sql`1`,
) {
  const now = ctx.now()
  return ctx.db.run(sql`
    INSERT INTO outbox (id, recipient, subject, text, html, reply_to, off_url, cause, act, created_at, attempts, send_at)
    SELECT ${newId('mail')}, ${to}, ${mail.subject}, iif(is_sent, ${mail.text}, ''), iif(is_sent, ${mail.html}, ''), ${mail.replyTo ?? null}, ${mail.offUrl ?? null}, ${cause}, ${mail.act ?? null}, ${now}, 0, iif(is_sent, ${now}, NULL)
    FROM (SELECT ${isSent} AS is_sent) WHERE ${when} ON CONFLICT (cause) DO NOTHING`)
}

/** An SQL condition: in the last day, this person got fewer emails about this act. A thief could otherwise fill their mailbox. */
export function fewToday(ctx: Pick<Context, 'now'>, to: SQL, act: string, most: number): SQL {
  return sql`(SELECT count(*) FROM outbox WHERE recipient = ${to} AND act = ${act} AND created_at > ${ctx.now() - DAY_MS}
    AND (attempts > 0 OR send_at IS NOT NULL)) < ${most}`
}

/**
 * Sends what is due. Two runs may overlap: each claims a row by moving its next try, so only one of them sends it.
 * @param first whose email is awaited, and so goes before all others
 */
export async function deliverMail(ctx: OutboxContext, first = ''): Promise<void> {
  for (;;) {
    const claimed = await claim(ctx, first)
    // A change returns its rows in no order.
    claimed.sort((a, b) => rank(a, first) - rank(b, first) || a.createdAt - b.createdAt)
    for (const mail of claimed) await deliver(ctx, mail)
    if (claimed.length < AT_ONCE) return
  }
}

const rank = ({ recipient }: OutboxRow, first: string) => (recipient === first ? 0 : 1)

function claim(ctx: OutboxContext, first: string): Promise<OutboxRow[]> {
  const now = ctx.now()
  const due = ctx.db
    .select({ id: outbox.id })
    .from(outbox)
    .where(lte(outbox.sendAt, now))
    .orderBy(desc(eq(outbox.recipient, first)), asc(outbox.sendAt))
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
    const sendAt = isRefusedForGood(error) || mail.sendAt === null ? null : retryAt
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

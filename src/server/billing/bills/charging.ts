import { and, between, desc, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { type BillRow, bills, type InvoiceRow, invoices, plans } from '../../../../db/schema/billing.ts'
import { type OutboxRow, outbox } from '../../../../db/schema/mail.ts'
import { DAY_MS } from '../../../domain/instant.ts'
import { CHARGE_NOTICE_MS, chargeChoice, SMALLEST_CHARGE_CENTS } from '../../../domain/money/charge.ts'
import { chargeSoonMail } from '../../mail/charge-letters.ts'
import { composeMail, type Message } from '../../mail/letter.ts'
import { tellQueries, tellSoon } from '../../mail/notices.ts'
import type { PayMethod } from '../../ports/payments.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { liftQuery } from './suspension.ts'

/**
 * What a bill is charged to: its owner agreed, and has a card or a bank account. Checked when we draft its invoice,
 * again before we finalize it, and when Stripe's tries may start again or must end. A closed account is sent its last
 * invoice, because nothing would announce a charge. So is a bill with a correction that is still to be credited: the
 * credit comes off what is left to pay, and a charge would take too much.
 */
export async function mayCharge(
  ctx: Context,
  { id, userId, amountCents, corrects }: BillRow,
  customerId: string,
): Promise<PayMethod | null> {
  if (amountCents < SMALLEST_CHARGE_CENTS) return null
  const [[owner], [plan], [credit]] = await ctx.db.batch([
    ctx.db.select().from(users).where(eq(users.id, userId)),
    ctx.db
      .select({ id: plans.stripeSubscriptionId })
      .from(plans)
      .where(and(eq(plans.userId, userId), isNotNull(plans.stripeSubscriptionId)))
      .orderBy(desc(plans.createdAt))
      .limit(1),
    ctx.db
      .select({ id: bills.id })
      .from(bills)
      .innerJoin(invoices, eq(invoices.billId, bills.id))
      .where(and(eq(bills.corrects, corrects ?? id), eq(invoices.step, 'credit')))
      .limit(1),
  ])
  if (!owner || owner.closedAt !== null || chargeChoice(owner) !== 'on' || credit) return null
  const method = await ctx.payments.findMethod(customerId, ctx.now())
  // Someone who bought a plan before we asked has a card there, but no default.
  if (method || !plan?.id) return method
  return ctx.payments.adoptCard({ customerId, subscriptionId: plan.id }, ctx.now())
}

/**
 * Whether its charge may begin: a day after the email that announces it was sent. `undelivered`: we couldn't send that
 * email in a day and a half of tries, so we may not charge it.
 */
export async function noticeOf(ctx: Context, row: InvoiceRow): Promise<'wait' | 'over' | 'undelivered'> {
  const mail = await findNotice(ctx, row.billId)
  if (mail && mail.sentAt === null && mail.sendAt === null) return 'undelivered'
  return chargeTime(row, mail) <= ctx.now() ? 'over' : 'wait'
}

/** The last email that announced the charge. */
async function findNotice(ctx: Context, billId: string): Promise<OutboxRow | undefined> {
  const [mail] = await ctx.db
    .select()
    .from(outbox)
    .where(between(outbox.cause, `charge:${billId}:`, `charge:${billId};`))
    .orderBy(desc(outbox.createdAt))
    .limit(1)
  return mail
}

/** Infinity until its email was sent. */
function chargeTime({ chargeAt }: InvoiceRow, mail: OutboxRow | undefined): number {
  if (chargeAt === null) return Infinity
  return mail ? Math.max(chargeAt, (mail.sentAt ?? Infinity) + CHARGE_NOTICE_MS) : chargeAt
}

/** Announces the charge, once, and postpones the invoice until then. If its email is late, so is the charge. */
export async function waitToCharge(ctx: Context, row: InvoiceRow, record: BillRow, method: PayMethod): Promise<void> {
  const { billId, step, attempts, nextAt } = row
  const announced = row.chargeAt === null ? undefined : await findNotice(ctx, billId)
  const known = row.chargeAt !== null && row.chargeAt > ctx.now() ? row.chargeAt : chargeTime(row, announced)
  const isLate = announced !== undefined && known === Infinity
  const chargeAt = known === Infinity ? ctx.now() + CHARGE_NOTICE_MS : known
  const [owner] = await ctx.db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(eq(users.id, record.userId))
  // Once finalized, a part of it may be paid or credited.
  const cents = step === 'resume' ? (row.remainingCents ?? record.amountCents) : record.amountCents
  const bill = { ...record, billId, cents, chargeAt, method }
  const stands = sql`EXISTS (SELECT 1 FROM invoices WHERE record_id = ${billId} AND charge_at = ${chargeAt})`
  // A hold that ended near its due date: nobody is suspended before we try their card.
  const later = step === 'resume' ? sql`max(0, coalesce(${chargeAt + DAY_MS} - due_at, 0))` : sql`0`
  const wait: Query = ctx.db.run(sql`UPDATE invoices SET charge_at = ${chargeAt}, next_at = ${chargeAt}, attempts = 0,
    due_at = due_at + ${later}, held_ms = held_ms + ${later}, last_error = NULL
    WHERE record_id = ${billId} AND step = ${step} AND attempts = ${attempts} AND next_at = ${nextAt}`)
  const message = chargeSoonMail(siteOrigin(ctx), bill)
  const told =
    !owner || (announced && !isLate)
      ? []
      : isLate
        ? retellQueries(ctx, announced, message, stands)
        : tellQueries(ctx, owner, message, stands, `charge:${billId}:${chargeAt}`)
  const written = await writeBatch(ctx.db, [wait, liftQuery(ctx, billId), ...told])
  if (owner && told.length) tellSoon(ctx, owner.id, written.at(-1))
}

/** The email is still unsent and names a day that has already come, so it and its notice get the new day. */
function retellQueries(ctx: Context, { id, cause }: OutboxRow, { subject, parts }: Message, when: SQL): Query[] {
  const { text, html } = composeMail(subject, parts)
  const [sentence] = parts
  return [
    ctx.db.run(sql`UPDATE outbox SET subject = ${subject}, text = ${text}, html = ${html}
      WHERE id = ${id} AND sent_at IS NULL AND ${when}`),
    ctx.db.run(sql`UPDATE notices SET title = ${subject}, text = ${sentence} WHERE cause = ${cause} AND ${when}`),
  ]
}

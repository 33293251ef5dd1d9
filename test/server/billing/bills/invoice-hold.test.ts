import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { auditLog } from '../../../../db/schema/operations.ts'
import { listBills } from '../../../../src/server/billing/bills/billing-history.ts'
import { setCharging } from '../../../../src/server/billing/bills/charge-consent.ts'
import { holdInvoice, releaseInvoice } from '../../../../src/server/billing/bills/invoice-hold.ts'
import { syncInvoice } from '../../../../src/server/billing/bills/invoice-sync.ts'
import { advanceInvoices } from '../../../../src/server/billing/bills/invoicing.ts'
import { DAY, HOUR, MONTH, openCustomer, START } from '../../../../testing/stack/billing-customer.ts'

const { stack, me, row, account, subjects: allSubjects, buyBasic } = await openCustomer()
const suspendedAt = async () => (await account())?.suspendedAt ?? null
const subjects = async () => (await allSubjects()).filter((subject) => subject.includes('$5.25'))
const hand = () => ({ db: stack.db, now: stack.ctx.now, by: { id: 'admin', reason: 'They dispute it.' } })
const billId = async () => (await row())?.billId ?? ''
const hold = async () => holdInvoice(stack.ctx, hand(), await billId())
const release = async () => releaseInvoice(stack.ctx, hand(), await billId())
const atStripe = async () =>
  stack.atStripe<{ status: string; auto_advance: boolean; attempt_count?: number; collection_method: string }>(
    `invoices/${(await row())?.stripeInvoiceId}`,
  )

/** Someone without a plan, billed $5.25 by invoice at the month's end. */
async function invoiced() {
  await stack.insertRun(me.user.id, { from: START + HOUR, until: START + 4 * HOUR })
  await stack.passTime(MONTH + HOUR, DAY)
  return row()
}

/** Someone whose card is to be charged $5.25, as we announced. */
async function announced(card?: 'declined_later') {
  await buyBasic({ answer: 'yes', ...(card ? { card } : {}) })
  await stack.passTime(MONTH + HOUR, 6 * HOUR)
  expect((await row())?.step).toBe('finalize')
}

test('holds what we announced, and announces it again after the release', async () => {
  await announced()
  await hold()
  await stack.passTime(MONTH + 40 * DAY, DAY)
  expect(await atStripe()).toMatchObject({ status: 'draft', collection_method: 'charge_automatically' })
  expect([await suspendedAt(), (await subjects()).length]).toEqual([null, 1])
  await release()
  await stack.passTime(MONTH + 40 * DAY + HOUR, HOUR)
  expect((await subjects())[1]).toMatch(/^We charge your card on Mar 1[23], 2028: \$5\.25$/)
  expect((await atStripe()).status).toBe('draft')
  await stack.passTime(MONTH + 44 * DAY, 6 * HOUR)
  expect([(await atStripe()).status, (await subjects()).at(-1)]).toEqual(['paid', 'We received $5.25'])
  const acts = await stack.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.subject, await billId()))
  expect(acts.map(({ act, reason, userId }) => [act, reason, userId])).toEqual([
    ['hold_invoice', 'They dispute it.', me.user.id],
    ['release_invoice', 'They dispute it.', me.user.id],
  ])
})

test("a held invoice isn't due, and its time doesn't count", async () => {
  const dueAt = (await invoiced())?.dueAt ?? 0
  stack.clock.now = dueAt - 4 * DAY
  await hold()
  await stack.passTime(dueAt + 6 * DAY, DAY)
  expect([await suspendedAt(), await subjects()]).toEqual([null, [expect.stringMatching(/^Your invoice/)]])
  await release()
  expect(await row()).toMatchObject({ heldAt: null, dueAt: dueAt + 10 * DAY })
  await syncInvoice(stack.ctx, (await row())?.stripeInvoiceId ?? '')
  expect((await row())?.dueAt).toBe(dueAt + 10 * DAY)
  await stack.passTime(dueAt + 10 * DAY - 1, 12 * HOUR)
  expect([await suspendedAt(), (await subjects())[1]]).toEqual([null, expect.stringContaining('is due on Feb 26')])
  await stack.passTime(dueAt + 10 * DAY, HOUR)
  expect(await suspendedAt()).toBe(dueAt + 10 * DAY)
})

test('lifts the suspension for an overdue invoice', async () => {
  const dueAt = (await invoiced())?.dueAt ?? 0
  await stack.passTime(dueAt + HOUR, DAY)
  expect(await suspendedAt()).not.toBeNull()
  await hold()
  expect(await suspendedAt()).toBeNull()
  await stack.passTime(dueAt + 3 * DAY, DAY)
  expect(await suspendedAt()).toBeNull()
  await release()
  await stack.passTime(dueAt + 3 * DAY + HOUR, HOUR)
  expect(await suspendedAt()).not.toBeNull()
})

test("stops Stripe's tries to charge a card, and lets them go on a day after we said so", async () => {
  await announced('declined_later')
  await stack.passTime(MONTH + 3 * DAY, 6 * HOUR)
  const tries = (await atStripe()).attempt_count ?? 0
  expect(tries).toBeGreaterThan(0)
  await hold()
  const [bill] = (await listBills(stack.ctx, me.user.id)).filter(({ kind }) => kind === 'usage')
  expect(bill).toMatchObject({ held: true, paid: false, overdue: false })
  // Stripe doesn't answer at first.
  stack.stripe.inject('lost_response', 1)
  await advanceInvoices(stack.ctx)
  stack.takeLines()
  await stack.passTime(MONTH + 12 * DAY, 6 * HOUR)
  expect(await atStripe()).toMatchObject({ status: 'open', auto_advance: false, attempt_count: tries })
  await release()
  await stack.passTime(stack.clock.now + 12 * HOUR, 6 * HOUR)
  expect(await atStripe()).toMatchObject({ auto_advance: false, attempt_count: tries })
  expect((await subjects()).at(-1)).toBe('We charge your card on Feb 14, 2028: $5.25')
  await stack.passTime(MONTH + 14 * DAY, 6 * HOUR)
  const now = await atStripe()
  expect([now.auto_advance, (now.attempt_count ?? 0) > tries]).toEqual([true, true])
})

test('a hold that ends hours before the due date: the charge we then announce comes first', async () => {
  await announced('declined_later')
  await stack.passTime(MONTH + 3 * DAY, 6 * HOUR)
  const { dueAt, hostedUrl } = (await row()) ?? {}
  await stack.passTime((dueAt ?? 0) - HOUR, DAY)
  await hold()
  await stack.passTime((dueAt ?? 0) + 4 * DAY, DAY)
  await release()
  await stack.passTime(stack.clock.now + HOUR, HOUR)
  const { chargeAt, dueAt: laterAt } = (await row()) ?? {}
  expect([await suspendedAt(), (laterAt ?? 0) - (chargeAt ?? 0)]).toEqual([null, DAY])
  // Whatever Stripe says of it next: the due date is ours.
  await syncInvoice(stack.ctx, (await row())?.stripeInvoiceId ?? '')
  expect((await row())?.dueAt).toBe(laterAt)
  await stack.passTime((laterAt ?? 0) - 1, HOUR)
  expect(await suspendedAt()).toBeNull()
  await stack.press(hostedUrl)
  await stack.passTime((laterAt ?? 0) + DAY, HOUR)
  expect([await suspendedAt(), (await row())?.status]).toEqual([null, 'paid'])
})

test("news of the invoice right after the hold doesn't put off its end of the tries", async () => {
  await announced('declined_later')
  await stack.passTime(MONTH + 3 * DAY, 6 * HOUR)
  await hold()
  await syncInvoice(stack.ctx, (await row())?.stripeInvoiceId ?? '')
  await advanceInvoices(stack.ctx)
  expect((await atStripe()).auto_advance).toBe(false)
})

test('sends the link after the release if they no longer want to be charged', async () => {
  await announced('declined_later')
  await stack.passTime(MONTH + 3 * DAY, 6 * HOUR)
  const tries = (await atStripe()).attempt_count
  await hold()
  await stack.passTime(MONTH + 4 * DAY, 6 * HOUR)
  await setCharging(stack.ctx, me.user.id, { on: false })
  await release()
  await stack.passTime(MONTH + 10 * DAY, 6 * HOUR)
  expect(await atStripe()).toMatchObject({ status: 'open', auto_advance: false, attempt_count: tries })
  expect((await subjects()).at(-1)).toBe('Your invoice: $5.25, due Feb 18, 2028')
})

test('a hold while we finalize it stops the charge', async () => {
  await announced()
  stack.clock.now = (await row())?.chargeAt ?? 0
  const { payments } = stack.ctx
  const finalizeInvoice: typeof payments.finalizeInvoice = async (...call) => {
    const done = await payments.finalizeInvoice(...call)
    await hold()
    return done
  }
  await advanceInvoices({ ...stack.ctx, payments: { ...payments, finalizeInvoice } })
  await advanceInvoices(stack.ctx)
  expect(await atStripe()).toMatchObject({ status: 'open', auto_advance: false })
  await stack.passTime(stack.clock.now + 5 * DAY, DAY)
  expect((await atStripe()).status).toBe('open')
  await release()
  await stack.passTime(stack.clock.now + 12 * HOUR, 6 * HOUR)
  expect((await atStripe()).status).toBe('open')
  await stack.passTime(stack.clock.now + DAY, 6 * HOUR)
  expect((await atStripe()).status).toBe('paid')
})

test('hears of a payment during the hold, and refuses to hold what is paid or held, or to release what is not', async () => {
  await invoiced()
  await expect(release()).rejects.toMatchObject({ code: 'conflict' })
  await hold()
  await expect(hold()).rejects.toMatchObject({ code: 'conflict' })
  await stack.press((await row())?.hostedUrl)
  await stack.passTime(MONTH + 3 * DAY, 12 * HOUR)
  expect(await row()).toMatchObject({ status: 'paid', nextAt: null })
  await release()
  await stack.passTime(MONTH + 4 * DAY, 12 * HOUR)
  await expect(hold()).rejects.toMatchObject({ code: 'conflict' })
  await expect(holdInvoice(stack.ctx, hand(), 'bill_x')).rejects.toMatchObject({ code: 'not_found' })
  expect(await stack.db.$count(auditLog, eq(auditLog.userId, me.user.id))).toBe(2)
})

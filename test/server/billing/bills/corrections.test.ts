import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { invoices } from '../../../../db/schema/billing.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { billsToCsv, totalDollars } from '../../../../src/domain/money/bill.ts'
import { findStatement, listBills } from '../../../../src/server/billing/bills/billing-history.ts'
import { getBillingOverview } from '../../../../src/server/billing/bills/billing-overview.ts'
import { closeDueCycles } from '../../../../src/server/billing/bills/close-cycles.ts'
import { correctBill } from '../../../../src/server/billing/bills/corrections.ts'
import { advanceInvoices } from '../../../../src/server/billing/bills/invoicing.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const stack = await openBillingStack(Date.UTC(2028, 0, 1))

/** A user with one closed cycle of two hours, one of them included in the plan, and its open invoice for $1.75. */
async function billed() {
  await stack.forgetEverybody()
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { hours: 1 })
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 3 * HOUR })
  stack.clock.now += 32 * DAY
  await closeDueCycles(stack.ctx)
  await advanceInvoices(stack.ctx)
  const [bill] = await listBills(stack.ctx, user.id)
  return { user, billId: bill?.id ?? '', url: bill?.invoice_url }
}
const correct = (billId: string, seconds: number, reason = 'The clock was wrong.') =>
  correctBill(stack.ctx, billId, { seconds, reason })
const api = async <T>(path: string) => (await stack.atStripe<{ data: T[] }>(path)).data
type Amounts = { total: number; amount_due: number; amount_remaining: number }
type AtStripe = Amounts & { id: string; status: string; customer: string; hosted_invoice_url: string }
const billsAtStripe = async (billId: string) =>
  (await api<AtStripe & { metadata: { record_id: string } }>('invoices?limit=100')).filter(
    ({ metadata }) => metadata.record_id === billId,
  )
const creditsAtStripe = async (billId: string) =>
  (await api<{ amount: number; type: string; metadata: { record_id: string } }>('credit_notes?limit=100')).filter(
    ({ metadata }) => metadata.record_id === billId,
  )

test('downward, before payment: reduces the invoice and leaves the record as it was', async () => {
  const { user, billId } = await billed()
  const [before] = await stack.billsOf(user.id)
  const correction = await correct(billId, 5400)
  expect(correction).toMatchObject({ corrects: billId, seconds: -1800, amountCents: -88 })
  await advanceInvoices(stack.ctx)
  expect(await creditsAtStripe(correction?.id ?? '')).toMatchObject([{ amount: 88, type: 'pre_payment' }])
  expect(await billsAtStripe(billId)).toMatchObject([{ status: 'open', total: 175, amount_remaining: 87 }])
  expect((await stack.billsOf(user.id)).find((row) => row.id === billId)).toEqual(before)

  const billRows = await listBills(stack.ctx, user.id)
  expect(billRows.map((bill) => [bill.amount_owed, bill.seconds_used, bill.paid, bill.corrects])).toEqual([
    [-0.88, -1800, true, billId],
    [1.75, 7200, false, null],
  ])
  expect(totalDollars(billRows)).toBe(0.87)
  expect(billsToCsv(billRows).split('\r\n')[1]).toMatch(/^2028-01-01,2028-01-31,-0\.88,-1800,true,false,cn_/)
  expect((await getBillingOverview(stack.ctx, user.id)).unpaidDollars).toBe(0.87)
  expect(await findStatement(stack.ctx, user.id, billId)).toMatchObject({
    corrections: [{ id: correction?.id, reason: 'The clock was wrong.' }],
    lines: [{ seconds: 7200 }],
  })
  expect(await findStatement(stack.ctx, user.id, correction?.id ?? '')).toMatchObject({ corrects: billId, lines: [] })
})

test('downward, after payment: reduces the next invoice', async () => {
  const { user, billId, url } = await billed()
  await stack.press(url)
  await stack.passTime(stack.clock.now + 2 * DAY, DAY)
  const correction = await correct(billId, 0)
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 4 * HOUR })
  await stack.passTime(stack.clock.now + 40 * DAY, DAY)
  expect(await creditsAtStripe(correction?.id ?? '')).toMatchObject([{ amount: 175, type: 'post_payment' }])
  const [next] = await listBills(stack.ctx, user.id)
  expect(await billsAtStripe(next?.id ?? '')).toMatchObject([{ total: 350, amount_due: 175 }])
  expect(next).toMatchObject({ amount_owed: 3.5, dollars_due: 1.75 })
  expect((await getBillingOverview(stack.ctx, user.id)).unpaidDollars).toBe(1.75)
})

test('downward by more than is left to pay: the rest reduces the invoice after it', async () => {
  const { user, billId, url } = await billed()
  await stack.press(url)
  await stack.passTime(stack.clock.now + 2 * DAY, DAY)
  await correct(billId, 0)
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 4 * HOUR })
  await stack.passTime(stack.clock.now + 40 * DAY, DAY)
  const [next] = await listBills(stack.ctx, user.id)
  // The first credit has paid half of it.
  expect(await billsAtStripe(next?.id ?? '')).toMatchObject([{ total: 350, amount_remaining: 175 }])
  const correction = await correct(next?.id ?? '', 5400)
  await advanceInvoices(stack.ctx)
  expect(await creditsAtStripe(correction?.id ?? '')).toMatchObject([
    { amount: 263, type: 'mixed', pre_payment_amount: 175, post_payment_amount: 88 },
  ])
  const [invoice] = await billsAtStripe(next?.id ?? '')
  expect(invoice).toMatchObject({ status: 'paid', amount_remaining: 0 })
  expect(await stack.atStripe(`customers/${invoice?.customer}`)).toMatchObject({ balance: -88 })
  expect((await getBillingOverview(stack.ctx, user.id)).unpaidDollars).toBe(0)
})

test.each([
  { seconds: 7200, credited: [175], left: [0, 175] },
  { seconds: 7180, credited: [175, 1], left: [0, 174] },
  { seconds: 0, credited: [175, 175], left: [0, 0] },
])('downward to $seconds after an extra charge: $credited cents of the bill, then of the charge', async (credit) => {
  const { user, billId } = await billed()
  const extra = await correct(billId, 10_800)
  await advanceInvoices(stack.ctx)
  const correction = await correct(billId, credit.seconds)
  await advanceInvoices(stack.ctx)
  const notes = await creditsAtStripe(correction?.id ?? '')
  expect(notes.map(({ amount }) => amount).sort((a, b) => b - a)).toEqual(credit.credited)
  const invoices = [...(await billsAtStripe(billId)), ...(await billsAtStripe(extra?.id ?? ''))]
  expect(invoices.map((invoice) => invoice.amount_remaining)).toEqual(credit.left)
  const dollars = credit.left.reduce((sum, cents) => sum + cents) / 100
  expect((await getBillingOverview(stack.ctx, user.id)).unpaidDollars).toBe(dollars)
})

test('downward after an extra charge and a credit of all of the bill: comes off the charge', async () => {
  const { user, billId, url } = await billed()
  await stack.press(url)
  await correct(billId, 3600)
  const extra = await correct(billId, 7200)
  await advanceInvoices(stack.ctx)
  const correction = await correct(billId, 3600)
  await advanceInvoices(stack.ctx)
  expect(await creditsAtStripe(correction?.id ?? '')).toMatchObject([{ amount: 175 }])
  expect(await billsAtStripe(extra?.id ?? '')).toMatchObject([{ status: 'paid', amount_remaining: 0 }])
  expect((await getBillingOverview(stack.ctx, user.id)).unpaidDollars).toBe(0)
})

test('downward twice, after an extra charge and a voided bill: the second comes off the charge', async () => {
  const { billId } = await billed()
  const extra = await correct(billId, 10_800)
  await advanceInvoices(stack.ctx)
  const [[bill], [charge]] = await Promise.all([billsAtStripe(billId), billsAtStripe(extra?.id ?? '')])
  await stack.press(charge?.hosted_invoice_url)
  await stack.atStripe(`invoices/${bill?.id}/void`, '')
  const credits = []
  for (const seconds of [9000, 7200, 5400, 3600]) {
    credits.push(await correct(billId, seconds))
    await advanceInvoices(stack.ctx)
  }
  const notes = await Promise.all(credits.map((credit) => creditsAtStripe(credit?.id ?? '')))
  expect(notes.map((each) => each.map(({ amount }) => amount))).toEqual([[], [], [88], [87]])
})

test('of everything overdue: lifts the suspension', async () => {
  const { user, billId } = await billed()
  await stack.passTime(stack.clock.now + 16 * DAY, DAY)
  const suspendedAt = async () => (await stack.db.select().from(users).where(eq(users.id, user.id)))[0]?.suspendedAt
  expect(await suspendedAt()).not.toBeNull()
  await correct(billId, 3600)
  await advanceInvoices(stack.ctx)
  expect(await suspendedAt()).toBeNull()
  expect((await listBills(stack.ctx, user.id)).map((bill) => bill.paid)).toEqual([true, true])
})

test('below the least that Stripe charges: sends no reminder and suspends nobody', async () => {
  const { user, billId } = await billed()
  await correct(billId, 4100)
  await advanceInvoices(stack.ctx)
  expect(await billsAtStripe(billId)).toMatchObject([{ status: 'open', amount_remaining: 24 }])
  await stack.passTime(stack.clock.now + 20 * DAY, DAY)
  expect(await stack.db.select().from(users).where(eq(users.id, user.id))).toMatchObject([{ suspendedAt: null }])
  expect(
    await stack.db
      .select()
      .from(outbox)
      .where(eq(outbox.cause, `due_soon:${billId}`)),
  ).toEqual([])
})

test('upward: gets its own invoice, due like any other', async () => {
  const { user, billId } = await billed()
  const correction = await correct(billId, 10_800)
  expect(correction).toMatchObject({ seconds: 3600, amountCents: 175 })
  await advanceInvoices(stack.ctx)
  expect(await billsAtStripe(correction?.id ?? '')).toMatchObject([{ status: 'open', total: 175 }])
  expect((await listBills(stack.ctx, user.id)).map((bill) => bill.due_date)).toEqual(
    Array(2).fill(new Date(stack.clock.now + 15 * DAY).toISOString().slice(0, 10)),
  )
})

test('requested twice, or twice at once, happens once', async () => {
  const { user, billId } = await billed()
  const both = await Promise.allSettled([correct(billId, 5400), correct(billId, 5400)])
  expect(both.some((one) => one.status === 'fulfilled')).toBe(true)
  expect(await correct(billId, 5400)).toBeNull()
  expect(await stack.billsOf(user.id)).toHaveLength(2)
  await Promise.all([advanceInvoices(stack.ctx), advanceInvoices(stack.ctx)])
  expect((await billsAtStripe(billId))[0]?.amount_remaining).toBe(87)
})

test('several, each rounded with the earlier ones: together they equal one bill for the final seconds', async () => {
  const { user, billId } = await billed()
  for (const seconds of [7000, 6999, 6998, 4321]) await correct(billId, seconds)
  const rows = await stack.billsOf(user.id)
  const sum = (key: 'seconds' | 'amountCents') => rows.reduce((total, row) => total + row[key], 0)
  // (4321 − 3600) × 4861 units are 35.05 cents.
  expect([sum('seconds'), sum('amountCents')]).toEqual([4321, 35])
  stack.clock.now += DAY
  await advanceInvoices(stack.ctx)
  expect((await billsAtStripe(billId))[0]?.amount_remaining).toBe(35)
})

test('within the plan’s hours, changes only seconds and never calls Stripe', async () => {
  const { user, billId } = await billed()
  await correct(billId, 3600)
  expect(await correct(billId, 1800)).toMatchObject({ seconds: -1800, amountCents: 0 })
  const rows = await stack.db.select().from(invoices).where(eq(invoices.userId, user.id))
  expect(rows).toHaveLength(2)
})

test('refuses an unknown bill, a correction of a correction, invalid seconds, no reason', async () => {
  const { billId } = await billed()
  await expect(correct('bill_none', 1)).rejects.toMatchObject({ code: 'not_found' })
  for (const seconds of [-1, 1.5, Number.NaN, 40 * 86_400])
    await expect(correct(billId, seconds)).rejects.toMatchObject({ code: 'invalid' })
  await expect(correct(billId, 1, ' ')).rejects.toMatchObject({ code: 'invalid' })
  const up = await correct(billId, 10_800)
  await expect(correct(up?.id ?? '', 1)).rejects.toMatchObject({ code: 'invalid' })
})

for (const fault of ['error', 'lost_response'] as const)
  test(`${fault} at each call of a credit, resumed after minutes or days, gives it once`, async () => {
    // The calls: read the invoice, list its credit notes after a failure, make the note, read the invoice again.
    for (const wait of [10 * 60_000, 2 * DAY])
      for (let call = 0; call < 3; call++) {
        const { user, billId } = await billed()
        const correction = await correct(billId, 5400)
        stack.stripe.inject(fault, 1, call)
        await advanceInvoices(stack.ctx)
        expect(stack.takeLines()).toMatchObject([
          { event: 'invoice_step_failed', billId: correction?.id, refused: false },
        ])
        stack.clock.now += wait
        await advanceInvoices(stack.ctx)
        expect([call, await creditsAtStripe(correction?.id ?? '')]).toMatchObject([call, [{ amount: 88 }]])
        const rows = await stack.db
          .select()
          .from(invoices)
          .where(eq(invoices.billId, correction?.id ?? ''))
        expect(rows).toMatchObject([{ step: 'credited', nextAt: null, lastError: null }])
        stack.clock.now += DAY
        await advanceInvoices(stack.ctx)
        expect((await getBillingOverview(stack.ctx, user.id)).unpaidDollars).toBe(0.87)
      }
  })

test('an error between the two notes of a credit, resumed after days, gives each once', async () => {
  // The calls: read the invoice, make the note, and read it again, for both invoices.
  for (const fault of ['error', 'lost_response'] as const)
    for (let call = 0; call < 6; call++) {
      const { user, billId } = await billed()
      await correct(billId, 10_800)
      await advanceInvoices(stack.ctx)
      const correction = await correct(billId, 3600)
      stack.stripe.inject(fault, 1, call)
      await advanceInvoices(stack.ctx)
      expect(stack.takeLines()).toMatchObject([{ event: 'invoice_step_failed', refused: false }])
      stack.clock.now += 2 * DAY
      await advanceInvoices(stack.ctx)
      expect([call, await creditsAtStripe(correction?.id ?? '')]).toMatchObject([
        call,
        [{ amount: 175 }, { amount: 175 }],
      ])
      // Both invoices were looked at beside the credit, and this clock stood still.
      stack.clock.now += DAY
      await advanceInvoices(stack.ctx)
      expect((await getBillingOverview(stack.ctx, user.id)).unpaidDollars).toBe(0)
    }
})

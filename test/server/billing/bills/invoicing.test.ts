import { eq } from 'drizzle-orm'
import { expect, test, vi } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { bills, invoices } from '../../../../db/schema/billing.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { closeDueCycles } from '../../../../src/server/billing/bills/close-cycles.ts'
import { ensureCustomer } from '../../../../src/server/billing/bills/customers.ts'
import { syncInvoice } from '../../../../src/server/billing/bills/invoice-sync.ts'
import { advanceInvoices } from '../../../../src/server/billing/bills/invoicing.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { throughCalls } from '../../../../testing/stack/database.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** The calls for one invoice, from nothing: find and make the customer, draft, line, read, finalize, send, read. */
const CALLS = 8

const stack = await openBillingStack(Date.UTC(2028, 0, 1))

/** A user with one closed cycle for $1.75 and nothing at Stripe yet. Cron no longer visits anyone else. */
async function billedUser() {
  await stack.forgetEverybody()
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { hours: 0 })
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 2 * HOUR })
  stack.clock.now += 32 * DAY
  await closeDueCycles(stack.ctx)
  return user
}

const api = async <T>(path: string) => (await stack.atStripe<{ data: T[] }>(path)).data

async function atStripe(email: string) {
  const customers = await api<{ id: string }>(`customers?email=${encodeURIComponent(email)}`)
  const billRows = await api<{ id: string; status: string; total: number }>(`invoices?customer=${customers[0]?.id}`)
  const lines = await api<{ amount: number }>(`invoiceitems?customer=${customers[0]?.id}`)
  const mails = await api<{ data: { object: { id: string } } }>('events?type=invoice.sent&limit=100')
  const sent = mails.filter(({ data }) => data.object.id === billRows[0]?.id)
  return {
    customers: customers.length,
    bills: billRows.map((b) => [b.status, b.total]),
    lines: lines.length,
    sent: sent.length,
  }
}
const whole = { customers: 1, bills: [['open', 175]], lines: 1, sent: 1 }
const billOf = async (userId: string) => (await stack.db.select().from(invoices).where(eq(invoices.userId, userId)))[0]
const suspensionOf = async (userId: string) =>
  (await stack.db.select().from(users).where(eq(users.id, userId)))[0]?.suspendedAt

/** A user with an invoice that they got and have not paid. */
async function invoicedUser() {
  const user = await billedUser()
  await advanceInvoices(stack.ctx)
  const { dueAt, stripeInvoiceId, hostedUrl } = (await billOf(user.id)) ?? {}
  return { user, dueAt: dueAt ?? Number.NaN, invoiceId: stripeInvoiceId ?? '', payPage: hostedUrl }
}

test("a bill's draft continues with a new customer, if someone deleted theirs at Stripe", async () => {
  const user = await billedUser()
  const first = await ensureCustomer(stack.ctx, user.id)
  expect(await stack.deleteCustomer(user.email)).toBe(first)
  await advanceInvoices(stack.ctx)
  expect(await atStripe(user.email)).toEqual(whole)
  const [row] = await stack.db.select().from(users).where(eq(users.id, user.id))
  expect(row?.stripeCustomerId).not.toBe(first)
})

test('a bill whose customer was deleted after its draft gets another draft', async () => {
  const user = await billedUser()
  const add = stack.ctx.payments.addInvoiceLine
  let first = ''
  const line = vi.spyOn(stack.ctx.payments, 'addInvoiceLine').mockImplementationOnce(async (...call) => {
    first = await stack.deleteCustomer(user.email)
    return add(...call)
  })
  await advanceInvoices(stack.ctx)
  line.mockRestore()
  expect(await atStripe(user.email)).toEqual(whole)
  expect(await billOf(user.id)).toMatchObject({ step: 'sent' })
  expect(await ensureCustomer(stack.ctx, user.id)).not.toBe(first)
})

test('one record becomes one invoice, due in 15 days', async () => {
  const user = await billedUser()
  const before = stack.stripe.calls().length
  await advanceInvoices(stack.ctx)
  expect(stack.stripe.calls().length - before).toBe(CALLS)
  expect(await atStripe(user.email)).toEqual(whole)
  expect(await billOf(user.id)).toMatchObject({
    step: 'sent',
    status: 'open',
    dueAt: stack.clock.now + 15 * DAY,
    paidAt: null,
  })
})

test('the due date is ours: 15 days after the invoice was finalized, also if Stripe knows none', async () => {
  const user = await billedUser()
  const { payments } = stack.ctx
  const read = payments.findInvoice
  const without = vi.spyOn(payments, 'findInvoice').mockImplementation(async (id) => {
    const found = await read(id)
    return found && { ...found, dueAt: null }
  })
  await advanceInvoices(stack.ctx)
  const dueAt = stack.clock.now + 15 * DAY
  expect(await billOf(user.id)).toMatchObject({ status: 'open', dueAt, nextAt: stack.clock.now + DAY })
  stack.clock.now = dueAt - 1
  await advanceInvoices(stack.ctx)
  expect(await suspensionOf(user.id)).toBeNull()
  stack.clock.now = dueAt
  await advanceInvoices(stack.ctx)
  without.mockRestore()
  expect(await suspensionOf(user.id)).toBe(dueAt)
})

for (const fault of ['error', 'lost_response', 'timeout'] as const)
  for (const wait of [10 * 60_000, 2 * DAY])
    test(`${fault} at each call in turn, resumed after ${wait / 60_000} minutes, leads to the same result`, async () => {
      for (let call = 0; call < CALLS; call++) {
        const user = await billedUser()
        stack.stripe.inject(fault, 1, call)
        await advanceInvoices(stack.ctx)
        const before = await billOf(user.id)
        expect(before?.step === 'sent' && before.status !== null, `call ${call} failed`).toBe(false)
        expect(stack.takeLines()).toMatchObject([
          { event: 'invoice_step_failed', billId: before?.billId, refused: false },
        ])
        stack.clock.now += wait
        await advanceInvoices(stack.ctx)
        // If Stripe has forgotten the key, a mail whose answer we lost goes out again. There is still only one
        // invoice.
        const mailedTwice = fault === 'lost_response' && wait > DAY && call === CALLS - 2
        expect([call, await atStripe(user.email)]).toEqual([call, { ...whole, sent: mailedTwice ? 2 : 1 }])
        expect(await billOf(user.id)).toMatchObject({ step: 'sent', status: 'open', attempts: 0, lastError: null })
      }
    })

test('recovers after Stripe was down for a week', async () => {
  const user = await billedUser()
  stack.stripe.inject('error', 10_000)
  for (let hour = 0; hour < 7 * 24; hour++) {
    stack.clock.now += HOUR
    await advanceInvoices(stack.ctx)
  }
  const tried = (await billOf(user.id))?.attempts ?? 0
  expect(tried).toBeGreaterThan(20)
  expect(tried).toBeLessThan(60)
  expect(inBrief(stack.takeLines())).toEqual(Array(tried).fill('invoice_step_failed unavailable'))
  stack.stripe.heal()
  await stack.passTime(stack.clock.now + 1.5 * DAY)
  expect(await atStripe(user.email)).toEqual(whole)
})

test('two at once make one invoice', async () => {
  const user = await billedUser()
  const before = stack.stripe.calls().length
  await Promise.all([advanceInvoices(stack.ctx), advanceInvoices(stack.ctx), advanceInvoices(stack.ctx)])
  expect(stack.stripe.calls().length - before).toBe(CALLS)
  expect(await atStripe(user.email)).toEqual(whole)
})

test('one that found it due but claims it after another has asked Stripe does not ask again', async () => {
  const user = await billedUser()
  await advanceInvoices(stack.ctx)
  stack.clock.now += DAY
  const { $client } = stack.db
  const found = Promise.withResolvers<void>()
  const claims = Promise.withResolvers<void>()
  const execute = (async (...args: Parameters<typeof $client.execute>) => {
    if (/^update/i.test(String((args[0] as { sql?: string }).sql))) {
      found.resolve()
      await claims.promise
    }
    return $client.execute(...args)
  }) as typeof $client.execute
  const late = advanceInvoices({ ...stack.ctx, db: throughCalls(stack.db, { execute }) })
  await found.promise
  await advanceInvoices(stack.ctx)
  expect(await billOf(user.id)).toMatchObject({ attempts: 0, syncedAt: stack.clock.now })
  const before = stack.stripe.calls().length
  claims.resolve()
  await late
  expect(stack.stripe.calls().length).toBe(before)
})

test('never finalizes an invoice that differs from its record', async () => {
  const user = await billedUser()
  await stack.db.run(`UPDATE billing_records SET amount_cents = 999 WHERE user_id = '${user.id}'`)
  // Adds the line, then fails.
  stack.stripe.inject('error', 1, 4)
  await advanceInvoices(stack.ctx)
  expect((await billOf(user.id))?.step).toBe('finalize')
  await stack.db.update(bills).set({ amountCents: 175 }).where(eq(bills.userId, user.id))
  const told = () => stack.db.$count(outbox, eq(outbox.subject, "We couldn't invoice a bill"))
  expect(await told()).toBe(0)
  stack.clock.now += DAY
  await advanceInvoices(stack.ctx)
  expect((await atStripe(user.email)).bills).toEqual([['draft', 999]])
  expect(await told()).toBe(1)
  expect(await billOf(user.id)).toMatchObject({ step: 'finalize', status: null })
  expect((await billOf(user.id))?.lastError).toContain('999')
  expect(stack.takeLines()).toMatchObject([
    { event: 'invoice_step_failed', step: 'finalize', refused: false },
    { event: 'invoice_step_failed', step: 'finalize', refused: true },
    { event: 'alert', matter: 'invoice_refused', error: [{}, { message: expect.stringContaining('999') }] },
  ])
})

test('one that Stripe calls uncollectible suspends on its due date, until it is paid', async () => {
  const { user, dueAt, invoiceId, payPage } = await invoicedUser()
  await stack.atStripe(`invoices/${invoiceId}/mark_uncollectible`, '')
  for (stack.clock.now = dueAt; stack.clock.now <= dueAt + 2 * DAY; stack.clock.now += DAY) {
    await advanceInvoices(stack.ctx)
    expect(await billOf(user.id)).toMatchObject({ status: 'uncollectible', syncedAt: stack.clock.now })
    expect(await suspensionOf(user.id)).toBe(dueAt)
  }
  await stack.press(payPage)
  await advanceInvoices(stack.ctx)
  expect(await suspensionOf(user.id)).toBeNull()
})

test('an event about an invoice that we have not sent yet does not put its next step off', async () => {
  const user = await billedUser()
  // Stripe is down when it is to be sent.
  stack.stripe.inject('error', 1, CALLS - 2)
  await advanceInvoices(stack.ctx)
  stack.takeLines()
  const before = await billOf(user.id)
  expect(before).toMatchObject({ step: 'send', status: null })
  await syncInvoice(stack.ctx, before?.stripeInvoiceId ?? '')
  expect(await billOf(user.id)).toMatchObject({ step: 'send', status: 'open', nextAt: before?.nextAt })
})

import { eq } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { emailTokens, users } from '../../../../db/schema/accounts.ts'
import { invoices } from '../../../../db/schema/billing.ts'
import { jobs, runs } from '../../../../db/schema/fleet.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import type { User } from '../../../../src/domain/wire/accounts.ts'
import { freeClosedAddresses } from '../../../../src/server/accounts/close-account.ts'
import { confirmEmail } from '../../../../src/server/accounts/confirmation.ts'
import { newEmailToken } from '../../../../src/server/accounts/email-tokens.ts'
import { recordMailboxes } from '../../../../src/server/accounts/mailboxes.ts'
import { forgetTraces } from '../../../../src/server/accounts/retention.ts'
import { requireAllowance } from '../../../../src/server/billing/allowance.ts'
import { findStatement, listBills } from '../../../../src/server/billing/bills/billing-history.ts'
import { getBillingOverview } from '../../../../src/server/billing/bills/billing-overview.ts'
import { suspendDebtors } from '../../../../src/server/billing/bills/debts.ts'
import { syncInvoice } from '../../../../src/server/billing/bills/invoice-sync.ts'
import { BILLING_CRON, runCron } from '../../../../src/server/cron.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import type { Context } from '../../../../src/server/runtime/context.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { beforeBatch } from '../../../../testing/stack/database.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const SUSPENDED = 'Your account is suspended until you pay the overdue invoice.'

const stack = await openBillingStack(Date.UTC(2028, 0, 1))
const config = { ...stack.ctx.config, secretKey: 'a-secret-of-thirty-two-characters-or-more' }
const ctx: Context = { ...stack.ctx, config, background: () => {}, mailer: { send: async () => {} } }
let debtor: User

/** Someone who closed their account and owes $1.75 for an hour. Their invoice is not due yet. */
beforeEach(async () => {
  await stack.forgetEverybody()
  stack.clock.now = Math.ceil(stack.clock.now / DAY) * DAY
  debtor = await stack.newUser()
  await stack.insertPlan(debtor.id, { hours: 0 })
  await stack.insertRun(debtor.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 2 * HOUR })
  stack.clock.now += 3 * HOUR
  await recordMailboxes(ctx)
  await close(debtor)
  stack.clock.now += 5 * 60_000
  for (let n = 0; n < 3; n++) await runCron(ctx, BILLING_CRON)
  expect(await invoiceOf(debtor)).toMatchObject({ status: 'open', remainingCents: 175 })
})

const close = ({ id }: User) =>
  stack.db.update(users).set({ closedAt: stack.clock.now, billingDueAt: stack.clock.now }).where(eq(users.id, id))
const invoiceOf = async ({ id }: User) =>
  (await stack.db.select().from(invoices).where(eq(invoices.userId, id)))[0] as typeof invoices.$inferSelect
const account = async ({ id }: User) => (await stack.db.select().from(users).where(eq(users.id, id)))[0]
const subjects = async ({ email }: User) =>
  (await stack.db.select().from(outbox).where(eq(outbox.recipient, email))).map(({ subject }) => subject)

/** Signs up, as far as the mailed link. */
async function signUp(email: string): Promise<{ user: User; token: string }> {
  const { token, hash } = newEmailToken()
  const user = { id: newId('user'), name: 'Ada', email, admin: false }
  const { now } = stack.clock
  await stack.db.insert(users).values({ ...user, passwordHash: 'x', createdAt: now })
  await stack.db
    .insert(emailTokens)
    .values({ hash, userId: user.id, purpose: 'confirm', createdAt: now, expiresAt: now + DAY })
  return { user, token }
}

async function signUpAndConfirm(email: string): Promise<User> {
  const { user, token } = await signUp(email)
  await confirmEmail(ctx, token)
  return user
}

const tagged = (tag: string) => debtor.email.replace('@', `+${tag}@`)

test('who left a bill and signs up again is suspended from the start, and told so once', async () => {
  const { user, token } = await signUp(tagged('2'))
  // Before the address is proven, nothing shows.
  expect(await listBills(ctx, user.id)).toEqual([])
  await runCron(ctx, BILLING_CRON)
  expect(await account(user)).toMatchObject({ suspendedAt: null })
  expect(await subjects(user)).toEqual([])
  await confirmEmail(ctx, token)
  expect(await account(user)).toMatchObject({ suspendedAt: stack.clock.now })
  stack.clock.now += 60_000
  await confirmEmail(ctx, token)
  await runCron(ctx, BILLING_CRON)
  expect((await subjects(user)).filter((one) => one.includes('suspended'))).toEqual([
    'Account suspended: $1.75 is unpaid',
  ])
  await expect(startRun(ctx, { user })).rejects.toMatchObject({ message: SUSPENDED, page: '/billing_history' })
  expect(await stack.db.$count(runs, eq(runs.userId, user.id))).toBe(0)
})

test('the open invoice is on the billing page of the new account, until it is paid there, which lifts the suspension', async () => {
  const user = await signUpAndConfirm(debtor.email.replace('user', 'USER').replace('@', '+3@'))
  const invoice = await invoiceOf(debtor)
  const owed = { id: invoice.billId, amount_owed: 1.75, paid: false, invoice_url: invoice.hostedUrl }
  expect(await listBills(ctx, user.id)).toMatchObject([{ ...owed, of_closed_account: true }])
  const overview = await getBillingOverview(ctx, user.id)
  expect(overview).toMatchObject({ unpaidDollars: 1.75, openInvoices: [owed] })
  // Its runs belong to the closed account.
  expect(await findStatement(ctx, user.id, invoice.billId)).toBeNull()
  await stack.press(invoice.hostedUrl)
  await syncInvoice(ctx, invoice.stripeInvoiceId ?? '')
  expect(await account(user)).toMatchObject({ suspendedAt: null, stopWarnedAt: null })
  expect(await listBills(ctx, user.id)).toEqual([])
  expect(await requireAllowance(ctx, user.id)).toMatchObject({ gpus: 1 })
  // The next one starts free of it.
  expect(await account(await signUpAndConfirm(tagged('4')))).toMatchObject({ suspendedAt: null })
})

test('nobody with another mailbox owes or sees it', async () => {
  const stranger = await signUpAndConfirm(`x${debtor.email}`)
  const { user: unproven } = await signUp(tagged('unproven'))
  await runCron(ctx, BILLING_CRON)
  for (const one of [stranger, unproven]) {
    expect(await listBills(ctx, one.id)).toEqual([])
    expect(await account(one)).toMatchObject({ suspendedAt: null })
  }
  const other = await stack.newUser()
  await stack.insertPlan(other.id, { hours: 0 })
  await recordMailboxes(ctx)
  const invoice = await invoiceOf(debtor)
  await stack.db.update(users).set({ suspendedAt: 1 }).where(eq(users.id, other.id))
  await stack.press(invoice.hostedUrl)
  await syncInvoice(ctx, invoice.stripeInvoiceId ?? '')
  // Paying it lifts nobody else's suspension.
  expect(await account(other)).toMatchObject({ suspendedAt: 1 })
})

test('an account that was open all the while owes it too, and its server is stopped after a warning', async () => {
  const second = await stack.newUser()
  await stack.db
    .update(users)
    .set({ email: tagged('open') })
    .where(eq(users.id, second.id))
  const user = { ...second, email: tagged('open') }
  await stack.insertPlan(user.id)
  const run = await stack.insertRun(user.id, { from: stack.clock.now, until: null })
  await recordMailboxes(ctx)
  await suspendDebtors(ctx)
  const suspendedAt = stack.clock.now
  expect(await account(user)).toMatchObject({ suspendedAt })
  await suspendDebtors(ctx)
  stack.clock.now = suspendedAt + 2 * DAY
  await runCron(ctx, BILLING_CRON)
  expect(await subjects(user)).toEqual([
    'Account suspended: $1.75 is unpaid',
    "We'll stop your server tomorrow: $1.75 is overdue",
  ])
  stack.clock.now = suspendedAt + 3 * DAY
  await runCron(ctx, BILLING_CRON)
  expect(await stack.db.select().from(jobs).where(eq(jobs.runId, run))).toMatchObject([{ errorCode: 'suspended' }])
})

test('a payment while the link is opened leaves the new account free', async () => {
  const { user, token } = await signUp(tagged('5'))
  const invoice = await invoiceOf(debtor)
  beforeBatch(ctx.db, 'is unpaid', async () => {
    await stack.press(invoice.hostedUrl)
    await syncInvoice(ctx, invoice.stripeInvoiceId ?? '')
  })
  await confirmEmail(ctx, token)
  expect(await account(user)).toMatchObject({ suspendedAt: null })
  expect((await subjects(user)).filter((one) => one.includes('suspended'))).toEqual([])
})

test('the mailbox of a debt is kept until it is paid', async () => {
  stack.clock.now += 31 * DAY
  await freeClosedAddresses(ctx)
  await forgetTraces(ctx)
  const kept = await account(debtor)
  expect(kept).toMatchObject({ email: `closed:${debtor.id}`, name: '', mailbox: expect.any(String) })
  const user = await signUpAndConfirm(debtor.email)
  expect(await account(user)).toMatchObject({ mailbox: kept?.mailbox, suspendedAt: stack.clock.now })
  const invoice = await invoiceOf(debtor)
  await stack.press(invoice.hostedUrl)
  await syncInvoice(ctx, invoice.stripeInvoiceId ?? '')
  await forgetTraces(ctx)
  expect(await account(debtor)).toMatchObject({ mailbox: null })
  expect(await account(user)).toMatchObject({ mailbox: kept?.mailbox, suspendedAt: null })
})

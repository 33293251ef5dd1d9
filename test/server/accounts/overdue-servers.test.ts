import { and, asc, eq, isNull } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { bills, invoices } from '../../../db/schema/billing.ts'
import { jobs, runs } from '../../../db/schema/fleet.ts'
import { outbox } from '../../../db/schema/mail.ts'
import type { User } from '../../../src/domain/wire/accounts.ts'
import { stopOverdueServers } from '../../../src/server/accounts/overdue-servers.ts'
import { closeDueCycles } from '../../../src/server/billing/bills/close-cycles.ts'
import { syncInvoice } from '../../../src/server/billing/bills/invoice-sync.ts'
import { advanceInvoices } from '../../../src/server/billing/bills/invoicing.ts'
import { BILLING_CRON, runCron } from '../../../src/server/cron.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import type { Random } from '../../../testing/random.ts'
import { openBillingStack } from '../../../testing/stack/billing-stack.ts'
import { flakyDatabase } from '../../../testing/stack/flaky-database.ts'
import { inBrief } from '../../../testing/stack/recorded-log.ts'
import { freshPlaces, jobsOf, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { running, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const stack = await openBillingStack(Date.UTC(2028, 0, 1))
const { ctx } = stack
let user: User
let dueAt: number

/** Someone with an invoice for $1.75 that is due in 15 days. Cron no longer visits anyone else. */
async function invoiced() {
  await stack.forgetEverybody()
  await stack.db.update(users).set({ suspendedAt: null, stopWarnedAt: null })
  stack.stripe.heal()
  stack.woken.length = 0
  stack.clock.now = Math.ceil(stack.clock.now / DAY) * DAY
  user = await stack.newUser()
  await stack.insertPlan(user.id, { hours: 0 })
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 2 * HOUR })
  stack.clock.now += 32 * DAY
  await closeDueCycles(ctx)
  await advanceInvoices(ctx)
  dueAt = (await billOf(user)).dueAt ?? 0
  expect(dueAt).toBe(stack.clock.now + 15 * DAY)
}
beforeEach(invoiced)

const cron = (at: number, context = ctx) => {
  stack.clock.now = at
  return runCron(context, BILLING_CRON)
}
const cronOnDays = async (...days: number[]) => {
  for (const day of days) await cron(dueAt + day * DAY)
}
const account = async () => (await stack.db.select().from(users).where(eq(users.id, user.id)))[0]
const suspendedAt = async () => (await account())?.suspendedAt
const warnedAt = async () => (await account())?.stopWarnedAt
const billOf = async ({ id }: User) =>
  (await stack.db.select().from(invoices).where(eq(invoices.userId, id)))[0] as typeof invoices.$inferSelect
const mails = () =>
  // Without those about the invoice itself.
  stack.db
    .select()
    .from(outbox)
    .where(and(eq(outbox.recipient, user.email), isNull(outbox.cause)))
    .orderBy(asc(outbox.createdAt))
const subjects = async () => (await mails()).map(({ subject }) => subject)
const stops = () => stack.db.select().from(jobs).where(eq(jobs.userId, user.id))
const runOf = async (id: string) => (await stack.db.select().from(runs).where(eq(runs.id, id)))[0]
const liveRun = () => stack.insertRun(user.id, { from: dueAt - HOUR, until: null })
const webhook = async () => syncInvoice(ctx, (await billOf(user)).stripeInvoiceId ?? '')
const pay = async () => stack.press((await billOf(user)).hostedUrl)
/**
 * A suspended person whose server is to be warned about, or stopped, in an hour. Stripe was asked a moment ago, so
 * its daily turn is far off.
 */
async function anHourBefore(next: 'warning' | 'stop') {
  await invoiced()
  await liveRun()
  await cronOnDays(...(next === 'warning' ? [0] : [0, 2]))
  const at = dueAt + (next === 'warning' ? 2 : 3) * DAY
  stack.clock.now = at - HOUR
  await webhook()
  return { at, before: await subjects() }
}

const day = (at: number) => new Date(at).toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' })

const SUSPENDED = 'Account suspended: $1.75 is overdue'
const WARNED = "We'll stop your server tomorrow: $1.75 is overdue"

test('suspends its owner on its due date, to the millisecond, with a mail', async () => {
  // Stripe was last asked at a different time of day.
  stack.clock.now = dueAt - 10 * HOUR
  await webhook()
  await cron(dueAt - 1)
  expect([await suspendedAt(), await subjects()]).toEqual([null, []])
  stack.told.length = 0
  for (const at of [dueAt, dueAt + 1, dueAt + 2 * DAY]) await cron(at)
  expect(stack.told).toContain(user.id)
  expect([await suspendedAt(), await subjects()]).toEqual([dueAt, [SUSPENDED]])
  const { hostedUrl } = await billOf(user)
  const [mail] = await mails()
  const [record] = await stack.billsOf(user.id)
  const periodEnd = record?.periodEnd ?? 0
  const bill = `$1.75 bill for ${day(dueAt - 47 * DAY)} – ${day(periodEnd - 1)}`
  expect(mail?.text).toContain(`Your ${bill} was due on ${day(dueAt)}. You can't start servers until it's paid.`)
  expect(mail?.text).toContain(`Pay $1.75:\n${hostedUrl}`)
})

test('warns two days later, and stops the server a day after that, to the millisecond', async () => {
  const run = await liveRun()
  await cron(dueAt)
  await cron(dueAt + 2 * DAY - 1)
  expect([await warnedAt(), await subjects()]).toEqual([null, [SUSPENDED]])
  await cron(dueAt + 2 * DAY)
  expect([await warnedAt(), await subjects()]).toEqual([dueAt + 2 * DAY, [SUSPENDED, WARNED]])
  expect((await mails())[1]?.text).toContain(
    `If it isn't paid by ${day(dueAt + 3 * DAY)}, 00:00 UTC, we'll stop your server.`,
  )
  expect((await mails())[1]?.text).toContain((await billOf(user)).hostedUrl)
  await cron(dueAt + 3 * DAY - 1)
  expect([await stops(), stack.woken]).toEqual([[], []])
  await cron(dueAt + 3 * DAY)
  await cron(dueAt + 3 * DAY + MINUTE)
  expect(await stops()).toMatchObject([
    {
      kind: 'server_stop',
      errorCode: 'suspended',
      errorMessage: 'We stopped your server because an invoice is overdue.',
    },
  ])
  expect(await runOf(run)).toMatchObject({ stopRequestedAt: dueAt + 3 * DAY, meteredUntil: dueAt + 3 * DAY })
  expect([stack.woken, await subjects()]).toEqual([[user.id], [SUSPENDED, WARNED]])
})

test('sets the alarm before it writes the stop, so that a stop is looked at even if this trigger dies then', async () => {
  await liveRun()
  await cronOnDays(0, 2)
  const stopsWhenArmed: number[] = []
  const channel = (id: string) => ({
    ...ctx.channel(id),
    arm: async () => void stopsWhenArmed.push((await stops()).length),
  })
  await cron(dueAt + 3 * DAY, { ...ctx, channel })
  expect([stopsWhenArmed, (await stops()).length]).toEqual([[0], 1])
})

test('a late warning delays the stop by as much', async () => {
  await liveRun()
  await cronOnDays(0, 12)
  expect([await stops(), await subjects()]).toEqual([[], [SUSPENDED, WARNED]])
  expect((await mails())[1]?.text).toContain(`by ${day(dueAt + 13 * DAY)}, 00:00 UTC`)
  await cron(dueAt + 13 * DAY - 1)
  expect(await stops()).toEqual([])
  await cron(dueAt + 13 * DAY)
  expect(await stops()).toHaveLength(1)
})

test('warns nobody while nothing runs; a server that starts anyway gets a warning before it is stopped', async () => {
  await cronOnDays(0, 2, 3, 4)
  expect(await subjects()).toEqual([SUSPENDED])
  // A start accepted just before the suspension: it has no instance yet.
  const [id, now] = [newId('ses'), stack.clock.now]
  const place = { placeId: 'srv_1', instanceType: 'g6.4xlarge', requestedAt: now }
  await stack.db.insert(runs).values({ ...place, id, userId: user.id })
  const job = {
    id: newId('job'),
    runId: id,
    kind: 'server_start',
    status: 'running',
    createdAt: now,
    updatedAt: now,
  } as const
  await stack.db.insert(jobs).values({ ...job, userId: user.id, runAt: now })
  await cron(now + MINUTE)
  expect([await subjects(), (await runOf(id))?.stopRequestedAt]).toEqual([[SUSPENDED, WARNED], null])
  await cron(now + MINUTE + DAY)
  expect((await stops()).map((row) => [row.kind, row.status, row.errorCode])).toEqual([
    ['server_start', 'failed', 'suspended'],
    ['server_stop', 'queued', 'suspended'],
  ])
  expect(await runOf(id)).toMatchObject({ stopRequestedAt: now + MINUTE + DAY, meteredUntil: null })
})

test('a payment lifts everything at once', async () => {
  await liveRun()
  await cronOnDays(0, 2)
  await pay()
  await webhook()
  expect([await suspendedAt(), await warnedAt()]).toEqual([null, null])
  await cron(dueAt + 3 * DAY)
  expect(await stops()).toEqual([])
})

test('paid without a webhook: asks Stripe before it suspends, warns, or stops', async () => {
  await pay()
  await cron(dueAt)
  expect([await suspendedAt(), await subjects()]).toEqual([null, []])
  for (const next of ['warning', 'stop'] as const) {
    const { at, before } = await anHourBefore(next)
    await pay()
    await cron(at)
    expect([next, await suspendedAt(), await warnedAt(), await stops()]).toEqual([next, null, null, []])
    expect(await subjects()).toEqual(before)
  }
})

test('a payment that arrives between the last check and the write wins', async () => {
  for (const next of ['warning', 'stop'] as const) {
    const { at, before } = await anHourBefore(next)
    const overtaken = async (id: string) => {
      const found = await stack.ctx.payments.findInvoice(id)
      await pay()
      stack.clock.now += 1
      await webhook()
      return found
    }
    await cron(at, { ...ctx, payments: { ...ctx.payments, findInvoice: overtaken } })
    expect([next, await suspendedAt(), await warnedAt(), await stops()]).toEqual([next, null, null, []])
    expect(await subjects()).toEqual(before)
  }
})

test('three crons at once: one mail per event, one stop', async () => {
  await liveRun()
  const thrice = async (at: number) => {
    stack.clock.now = at
    await Promise.all([runCron(ctx, BILLING_CRON), runCron(ctx, BILLING_CRON), runCron(ctx, BILLING_CRON)])
  }
  for (const days of [0, 2, 3]) await thrice(dueAt + days * DAY)
  expect([await subjects(), (await stops()).length]).toEqual([[SUSPENDED, WARNED], 1])
})

test('a cron cut off before or after any database call: the next one continues, and nothing happens twice', async () => {
  let cuts = 0
  for (const fault of ['database away', 'database answer lost'] as const)
    for (let call = 0, cut = true; cut; call++) {
      await invoiced()
      await liveRun()
      cut = false
      const flaky = flakyDatabase(stack.db, () => {
        cut = true
        cuts += 1
      })
      const cutCron = async (at: number) => {
        flaky.inject({ pick: () => fault, between: () => call } as unknown as Random)
        await cron(at, { ...ctx, db: flaky.db })
        flaky.heal()
        // What was claimed and then cut off is retried within minutes.
        await cron(at + 3 * MINUTE)
      }
      await cutCron(dueAt)
      await cutCron(((await suspendedAt()) ?? 0) + 2 * DAY)
      await cutCron(((await warnedAt()) ?? 0) + DAY)
      expect([fault, call, await subjects(), (await stops()).length]).toEqual([fault, call, [SUSPENDED, WARNED], 1])
    }
  expect(cuts).toBeGreaterThan(40)
  // The log has each cut, with the trigger it cut off.
  const lines = stack.takeLines()
  expect(lines.length).toBeGreaterThanOrEqual(cuts)
  for (const line of lines) expect(line).toMatchObject({ cron: BILLING_CRON, task: expect.any(String) })
})

test('while Stripe is silent, suspension comes about an hour late, and the stop another hour', async () => {
  await liveRun()
  stack.stripe.inject('error', 10_000)
  let at = dueAt
  for (; at < dueAt + HOUR; at += MINUTE) {
    await cron(at)
    expect([at - dueAt, await suspendedAt()]).toEqual([at - dueAt, null])
  }
  for (; at < dueAt + HOUR + 5 * MINUTE; at += MINUTE) await cron(at)
  const since = (await suspendedAt()) ?? 0
  expect([since > 0, await subjects()]).toEqual([true, [SUSPENDED]])
  await cron(since + 2 * DAY + HOUR - 1)
  expect(await warnedAt()).toBeNull()
  await cron(since + 2 * DAY + HOUR)
  expect(await subjects()).toEqual([SUSPENDED, WARNED])
  await cron(since + 3 * DAY + 2 * HOUR - 1)
  expect(await stops()).toEqual([])
  await cron(since + 3 * DAY + 2 * HOUR)
  expect(await stops()).toHaveLength(1)
  const [asked, due] = ['invoice_step_failed unavailable', 'overdue_not_asked unavailable']
  expect(new Set(inBrief(stack.takeLines()))).toEqual(new Set([asked, due]))
  // It is paid now.
  await pay()
  stack.stripe.heal()
  await cron(stack.clock.now + DAY)
  expect(await suspendedAt()).toBeNull()
})

test('an outage that began days earlier still lets it ask Stripe on the due date', async () => {
  stack.clock.now = dueAt - 2 * DAY
  await pay()
  stack.stripe.inject('error', 10_000)
  for (let at = dueAt - 2 * DAY; at < dueAt; at += 30 * MINUTE) await cron(at)
  const failed = { event: 'invoice_step_failed', cron: BILLING_CRON, task: 'advanceInvoices' }
  for (const line of stack.takeLines()) expect(line).toMatchObject(failed)
  stack.stripe.heal()
  await cron(dueAt)
  expect(await billOf(user)).toMatchObject({ status: 'paid', attempts: 0 })
  expect([await suspendedAt(), await subjects()]).toEqual([null, []])
})

test('a closed account, erased or not, gets no mail', async () => {
  await stack.db.update(users).set({ closedAt: stack.clock.now }).where(eq(users.id, user.id))
  await liveRun()
  await cronOnDays(0, 2, 3)
  expect([await suspendedAt(), await subjects(), (await stops()).length]).toEqual([dueAt, [], 1])
})

test('with two overdue, paying one changes nothing, and paying both lifts it', async () => {
  const first = await billOf(user)
  const [record] = await stack.billsOf(user.id)
  const another = {
    ...record,
    id: newId('bill'),
    corrects: record?.id ?? '',
    reason: 'more',
    createdAt: stack.clock.now,
  }
  await stack.db.insert(bills).values(another as typeof bills.$inferInsert)
  const times = { nextAt: stack.clock.now + HOUR, createdAt: stack.clock.now }
  await stack.db.insert(invoices).values({ billId: another.id, userId: user.id, step: 'draft', ...times })
  await cron(stack.clock.now + HOUR)
  const [second] = (await stack.db.select().from(invoices).where(eq(invoices.userId, user.id))).filter(
    ({ billId }) => billId === another.id,
  )
  expect(second?.dueAt).toBe(dueAt + HOUR)
  await liveRun()
  await cron(dueAt)
  await cron(dueAt + HOUR)
  await cron(dueAt + 2 * DAY)
  expect(await subjects()).toEqual([SUSPENDED, "We'll stop your server tomorrow: $3.50 is overdue"])
  expect((await mails())[1]?.text).toContain('Pay $3.50:\nhttp://site.test/billing_history')
  await stack.press(first.hostedUrl)
  await syncInvoice(ctx, first.stripeInvoiceId ?? '')
  expect([await suspendedAt(), await warnedAt()]).toEqual([dueAt, dueAt + 2 * DAY])
  await stack.press(second?.hostedUrl)
  await syncInvoice(ctx, second?.stripeInvoiceId ?? '')
  expect([await suspendedAt(), await warnedAt()]).toEqual([null, null])
})

test('an answer to an earlier request never overwrites a later one, and never suspends', async () => {
  const { stripeInvoiceId } = await billOf(user)
  stack.clock.now = dueAt
  const answered = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const slow = async (id: string) => {
    const found = await stack.ctx.payments.findInvoice(id)
    answered.resolve()
    await held.promise
    return found
  }
  const early = syncInvoice({ ...ctx, payments: { ...ctx.payments, findInvoice: slow } }, stripeInvoiceId ?? '')
  await answered.promise
  stack.clock.now += 1
  await pay()
  await webhook()
  held.resolve()
  await early
  expect(await billOf(user)).toMatchObject({ status: 'paid', nextAt: null, remainingCents: 0, syncedAt: dueAt + 1 })
  expect([await suspendedAt(), await subjects()]).toEqual([null, []])
})

test('says why the server was stopped, and how long it ran', async () => {
  const world = await openWorld(stack.db)
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await running(world, ada)
  world.advance(100)
  const { ms } = world.clock
  const marks = { suspendedAt: ms - 3 * DAY, stopWarnedAt: ms - DAY }
  await world.db.update(users).set(marks).where(eq(users.id, ada.user.id))
  // The alarm is set before the stop is written down, so that its job begins even if nobody hears of it.
  const armed: unknown[] = []
  world.wire = async (call, effect) => {
    if (call === 'channel: arm') armed.push((await latestRun(world, ada.user.id)).stopRequestedAt)
    return effect()
  }
  await stopOverdueServers(world.ctx)
  expect(armed).toEqual([null])
  await settle(world, ada)
  const job = (await jobsOf(world, ada.user.id)).find(({ kind }) => kind === 'server_stop')
  expect(job).toMatchObject({ status: 'failed', errorCode: 'suspended' })
  expect(job?.errorMessage).toMatch(/^We stopped your server because an invoice is overdue\. .*\b1m \d+s\b/)
  const run = await latestRun(world, ada.user.id)
  expect(run.errorMessage).toBe('We stopped your server because an invoice is overdue.')
  expect(run.endedAt).not.toBeNull()
})

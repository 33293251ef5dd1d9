import { eq, inArray } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { bills, invoices } from '../../../db/schema/billing.ts'
import { jobs, places, runs } from '../../../db/schema/fleet.ts'
import { outbox } from '../../../db/schema/mail.ts'
import { callCounts } from '../../../db/schema/operations.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { watchMatters } from '../../../src/server/operations/matters.ts'
import { openBillingStack } from '../../../testing/stack/billing-stack.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const stack = await openBillingStack(Date.UTC(2026, 10, 20, 12))
const { db, ctx, clock } = stack
const ada = await stack.newUser()

/** The subjects mailed to the operator since the last call. */
async function told(): Promise<string[]> {
  await watchMatters(ctx)
  // It logs each as well.
  stack.takeLines()
  const rows = await db.select().from(outbox).where(eq(outbox.recipient, 'operator@site.test'))
  await db.delete(outbox).where(eq(outbox.recipient, 'operator@site.test'))
  return rows.map(({ subject }) => subject)
}

async function newJob(attempts: number): Promise<string> {
  const runId = await stack.insertRun(ada.id, { from: clock.now, until: clock.now })
  const id = newId('job')
  const at = { runAt: clock.now, createdAt: clock.now, updatedAt: clock.now }
  await db.insert(jobs).values({ id, userId: ada.id, runId, kind: 'server_stop', status: 'running', attempts, ...at })
  return id
}

test('says nothing while all is well, and counts six tries of a job, not five', async () => {
  const id = await newJob(5)
  expect(await told()).toEqual([])
  await db.update(jobs).set({ attempts: 6 }).where(eq(jobs.id, id))
  expect(await told()).toEqual(['A job keeps failing'])
  await db.delete(jobs)
})

test('emails once while a matter lasts, once for those that begin together, and again if it returns after an hour', async () => {
  const first = await newJob(9)
  expect(await told()).toEqual(['A job keeps failing'])
  for (let minutes = 0; minutes < 150; minutes += 30) {
    clock.now += 30 * MINUTE
    expect(await told()).toEqual([])
  }
  await newJob(9)
  await newJob(9)
  expect(await told()).toEqual(['2 jobs keep failing'])
  await db.delete(jobs)
  clock.now += HOUR - 1
  await newJob(9)
  expect(await told()).toEqual(['A job keeps failing'])
  await db.delete(jobs)
  expect(await told()).toEqual([])
  expect(first).toMatch(/^job_/)
})

test('two triggers at once send one email', async () => {
  await newJob(9)
  await Promise.all([watchMatters(ctx), watchMatters(ctx)])
  expect(await told()).toEqual(['A job keeps failing'])
  await db.delete(jobs)
})

test('names a run that has been stopping for more than ten minutes', async () => {
  const id = await stack.insertRun(ada.id, { from: clock.now, until: clock.now })
  await db.update(runs).set({ endedAt: null }).where(eq(runs.id, id))
  clock.now += 10 * MINUTE
  expect(await told()).toEqual([])
  clock.now += 1
  expect(await told()).toEqual(["A server won't stop"])
  await db.update(runs).set({ endedAt: clock.now }).where(eq(runs.id, id))
})

test('names emails that have waited for more than an hour, but not sent or given-up ones', async () => {
  const mail = { recipient: 'ada@example.com', subject: 'x', text: '', html: '', createdAt: clock.now - HOUR - 1 }
  await db.insert(outbox).values([
    { ...mail, id: 'sent' },
    { ...mail, id: 'given up' },
    { ...mail, id: 'young', createdAt: clock.now - HOUR },
    { ...mail, id: 'old' },
  ])
  const isIn = (...ids: string[]) => inArray(outbox.id, ids)
  await db
    .update(outbox)
    .set({ sentAt: null })
    .where(isIn('given up', 'young', 'old'))
  await db.update(outbox).set({ sendAt: clock.now }).where(isIn('young'))
  expect(await told()).toEqual([])
  await db.update(outbox).set({ sendAt: clock.now }).where(isIn('old'))
  expect(await told()).toEqual(["An email couldn't be sent for an hour"])
  await db.delete(outbox)
})

test('says once that the mail service refused an email for good, and nothing of what it may take later', async () => {
  const send = { system: 'mail', call: 'send', count: 1, lastAt: clock.now }
  await db.insert(callCounts).values({ ...send, outcome: 'failed' })
  expect(await told()).toEqual([])
  await db.insert(callCounts).values({ ...send, outcome: 'refused' })
  expect(await told()).toEqual(['The mail service refused an email for good'])
  clock.now += HOUR - 1
  expect(await told()).toEqual([])
  clock.now += 2 * HOUR
  expect(await told()).toEqual([])
  await db.delete(callCounts)
})

test('names an invoice tried four times, but not one that waits to be paid', async () => {
  const start = clock.now
  const period = {
    periodStart: start,
    periodEnd: start + 1,
    includedHours: 0,
    trial: false,
    seconds: 1,
    amountCents: 100,
  }
  await db.insert(bills).values({ id: 'bill_1', userId: ada.id, createdAt: start, ...period })
  const invoice = { billId: 'bill_1', userId: ada.id, createdAt: start, nextAt: start }
  await db.insert(invoices).values({ ...invoice, step: 'sent', attempts: 9 })
  expect(await told()).toEqual([])
  await db.update(invoices).set({ step: 'draft', attempts: 3 })
  expect(await told()).toEqual([])
  await db.update(invoices).set({ attempts: 4 })
  expect(await told()).toEqual(["An invoice couldn't be sent"])
  await db.delete(invoices)
})

test('says that webhooks fail while the latest did', async () => {
  const webhook = { system: 'webhook', call: 'stripe', count: 1 }
  await db.insert(callCounts).values([
    { ...webhook, outcome: 'failed', lastAt: clock.now - MINUTE },
    { ...webhook, outcome: 'ok', lastAt: clock.now },
  ])
  expect(await told()).toEqual([])
  await db
    .update(callCounts)
    .set({ lastAt: clock.now + 1 })
    .where(eq(callCounts.outcome, 'failed'))
  expect(await told()).toEqual(["We don't accept Stripe's webhooks"])
  await db.delete(callCounts)
})

test('says once that no place is free, and nothing without any place', async () => {
  await db.update(places).set({ reservedBy: 'ses_x' })
  expect(await told()).toEqual(['No free place: no server can start'])
  await db.update(places).set({ reservedBy: null, setAsideUntil: clock.now + 1 })
  clock.now += 2 * HOUR
  expect(await told()).toEqual([])
  await db.update(places).set({ retiredAt: clock.now })
  expect(await told()).toEqual(['No free place: no server can start'])
})

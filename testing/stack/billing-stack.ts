import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { asc, eq, sql } from 'drizzle-orm'
import { afterEach, expect } from 'vitest'
import type { Database } from '../../db/client.ts'
import { users } from '../../db/schema/accounts.ts'
import { bills, checkouts, invoices, plans } from '../../db/schema/billing.ts'
import { places, runs } from '../../db/schema/fleet.ts'
import type { Card } from '../../dev/stripe/cards.ts'
import { type StripeOptions, type StripeStandIn, startStripe } from '../../dev/stripe/stand-in.ts'
import type { User } from '../../src/domain/wire/accounts.ts'
import { stripePayments } from '../../src/server/billing/stripe.ts'
import { receiveStripeEvent } from '../../src/server/billing/stripe-events.ts'
import { BILLING_CRON, runCron } from '../../src/server/cron.ts'
import { newId } from '../../src/server/crypto/id.ts'
import { atEnd, temporaryFolder } from './at-end.ts'
import { memoryDatabase } from './memory-database.ts'
import { inBrief, recordLog } from './recorded-log.ts'
import { silent, testContext } from './test-context.ts'

/** What becomes of Stripe's webhooks: Stripe keeps them for later, we handle them, or they get lost on the way. */
type Webhooks = 'kept' | 'handled' | 'lost'

export type BillingStack = Awaited<ReturnType<typeof openBillingStack>>

/** A network in this process: over HTTP, a call to Stripe cost more than what it does. */
function straightTo(standIn: StripeStandIn): typeof fetch {
  return async (input, init = {}) => {
    // As over a network, others work during a call.
    await later()
    const outcome = standIn.answer({
      method: init.method ?? 'GET',
      url: new URL(String(input)),
      headers: Object.fromEntries(new Headers(init.headers)),
      body: String(init.body ?? ''),
    })
    if (outcome === 'lost') throw new TypeError('fetch failed')
    if (outcome === 'unanswered') throw Object.assign(new Error('No answer.'), { code: 'ETIMEDOUT' })
    return new Response(outcome.body, outcome)
  }
}
/** The real one, even if a test has replaced it. */
const later = promisify(setImmediate)

/**
 * Its own database and Stripe on one clock, because closing visits every account in a database. It ends with the test
 * file. A test that logs anything must take those lines.
 */
export async function openBillingStack(
  start: number,
  { db = memoryDatabase(), ...stripe }: Partial<StripeOptions> & { db?: Database } = {},
) {
  const dataDir = temporaryFolder('billing-stack')
  const clock = { now: start }
  const standIn = await startStripe({ dataDir, now: () => clock.now, ...stripe })
  const straight = straightTo(standIn)
  const { log, takeLines } = recordLog()
  const woken: string[] = []
  const told: string[] = []
  const wake = async (userId: string) => void woken.push(userId)
  const ctx = testContext({
    db,
    now: () => clock.now,
    payments: stripePayments(
      {
        STRIPE_SECRET_KEY: 'sk_test_local',
        STRIPE_WEBHOOK_SECRET: 'whsec_local',
        STRIPE_API_BASE: standIn.apiBase,
      },
      { fetcher: straight },
    ),
    background: () => {},
    log,
    channel: (userId) => ({ ...silent, wake, tellAccount: async () => void told.push(userId) }),
    eventSender: () => ({ wake }),
  })
  let webhooks: Webhooks = 'kept'
  const receiver = createServer(async (request, response) => {
    const payload = Buffer.concat(await request.toArray()).toString()
    const signature = String(request.headers['stripe-signature'])
    const handled =
      webhooks !== 'handled' ||
      (await receiveStripeEvent(ctx, { payload, signature }).then(
        () => true,
        () => false,
      ))
    response.writeHead(handled ? 200 : 500).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    await standIn.close()
    receiver.closeAllConnections()
    receiver.close()
  })
  afterEach(() => expect(inBrief(takeLines())).toEqual([]))
  // Nobody sends its mail: each counts as sent when it's written. A test may take that back.
  await db.run(sql`CREATE TRIGGER mail_arrives AFTER INSERT ON outbox
    BEGIN UPDATE outbox SET sent_at = new.created_at, send_at = NULL WHERE id = new.id; END`)
  await db
    .insert(places)
    .values({ id: 'srv_1', instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', position: 0 })

  return {
    ctx,
    db,
    takeLines,
    clock,
    stripe: standIn,
    /** The users whose channels were woken, one entry per call. */
    woken,
    /** The users whose open pages, and whose door, were told to look again. */
    told,

    setWebhooks(to: Webhooks) {
      webhooks = to
      standIn.setWebhookUrl(to === 'kept' ? '' : `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`)
    },

    /** Reads from Stripe, or with a body writes to it, as its dashboard would. */
    async atStripe<T>(path: string, body?: string): Promise<T> {
      const init = { headers: { authorization: 'Bearer sk' }, ...(body === undefined ? {} : { method: 'POST', body }) }
      const answer = await straight(`${standIn.apiBase}/v1/${path}`, init)
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
      return (await answer.json()) as T
    },

    /** As someone does in Stripe's dashboard. */
    async deleteCustomer(email: string): Promise<string> {
      const found = await this.atStripe<{ data: { id: string }[] }>(`customers?email=${encodeURIComponent(email)}`)
      const id = found.data[0]?.id ?? ''
      const init = { method: 'DELETE', headers: { authorization: 'Bearer sk' } }
      const answer = await straight(`${standIn.apiBase}/v1/customers/${id}`, init)
      if (!answer.ok) throw new Error(`${id} is not deleted: ${answer.status}`)
      return id
    },

    /** Their bills, oldest first. */
    billsOf: (userId: string) =>
      db.select().from(bills).where(eq(bills.userId, userId)).orderBy(asc(bills.periodStart)),

    async newUser(createdAt = clock.now): Promise<User> {
      const id = newId('user')
      const user = { id, name: 'Ada', email: `${id.toLowerCase()}@example.com`, admin: false }
      await db.insert(users).values({ ...user, passwordHash: 'x', createdAt, confirmedAt: createdAt })
      return user
    },

    /** A run that has ended, or a live one last seen at `confirmedAt`. */
    async insertRun(userId: string, run: { from: number; until: number | null; confirmedAt?: number }) {
      const id = newId('ses')
      await db.insert(runs).values({
        id,
        userId,
        placeId: 'srv_1',
        instanceType: 'g6.4xlarge',
        requestedAt: run.from - 10_000,
        runningAt: run.from,
        billedFrom: run.from,
        confirmedAt: run.confirmedAt ?? run.until ?? run.from,
        meteredUntil: run.until,
        stopRequestedAt: run.until,
        endedAt: run.until,
        endedBecause: run.until === null ? null : 'you',
      })
      return id
    },

    /** A plan that Stripe does not know, as the operator grants it. */
    async insertPlan(userId: string, plan: Partial<typeof plans.$inferInsert> = {}) {
      await db.insert(plans).values({
        id: newId('sub'),
        userId,
        planType: 'basic',
        subType: 'paid',
        status: 'active',
        anchor: clock.now,
        hours: 5,
        createdAt: clock.now,
        ...plan,
      })
    },

    /** Makes cron skip everyone there is so far, for tests that count calls or take long. */
    async forgetEverybody() {
      await db.update(users).set({ billingDueAt: Number.MAX_SAFE_INTEGER })
      await db.update(invoices).set({ nextAt: null })
      await db.update(plans).set({ checkAt: null })
      await db.update(checkouts).set({ checkAt: null })
    },

    /** A person presses "Pay" on one of Stripe's pages, or the button for another card. @param answers to its questions */
    async press(url: string | null | undefined, card?: Exclude<Card, 'good'>, answers: Record<string, string> = {}) {
      const body = new URLSearchParams(card ? { card, ...answers } : answers)
      const response = await fetch(url ?? '', { method: 'POST', redirect: 'manual', body })
      if (response.status !== 303) throw new Error(`${url} answered ${response.status}`)
    },

    /** Runs cron at this interval until `until`. */
    async passTime(until: number, every = 6 * 3_600_000) {
      while (clock.now < until) {
        clock.now = Math.min(until, clock.now + every)
        await runCron(ctx, BILLING_CRON)
        // A webhook that was sent before the clock moved on would be too old to be believed.
        await standIn.settle()
      }
    },
  }
}

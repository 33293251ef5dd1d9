import { asc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { billingRecords, invoices, serverSessions } from '../../db/schema.ts'
import type { InstanceRecord } from '../../dev/ec2/history.ts'
import type { Customer } from './customers.ts'
import { independentBills, type SeenPlan } from './independent-bill.ts'
import { liveYear } from './live-year.ts'
import { seenPlans, seenRuns } from './seen.ts'
import { openYearWorld, type YearWorld } from './year-world.ts'

const customers = Number(process.env.SIM_CUSTOMERS ?? 12)
const runs = Number(process.env.SIM_RUNS ?? 8)
const seed = Number(process.env.SIM_SEED ?? 1)
// A leap year, from its first day to well after its last.
const from = Date.UTC(2028, 0, 1)
const until = Date.UTC(2029, 0, 5)

describe(`a year of ${customers} customers`, () => {
  let world: YearWorld
  let everybody: Customer[]
  let plans: Map<string, SeenPlan[]>
  const records = new Map<string, InstanceRecord[]>()

  beforeAll(async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    world = await openYearWorld(from, 60)
    everybody = await liveYear(world, { customers, runs, seed, from, until })
    plans = await seenPlans(world, everybody)
    for (const record of world.ec2.history()) {
      const session = record.tags.session ?? ''
      records.set(session, [...(records.get(session) ?? []), record])
    }
  }, 3_600_000)
  afterAll(() => world?.close())

  const seen = (customer: Customer) => seenRuns(world, customer, plans.get(customer.user.id) ?? [], records)

  test('something happened', async () => {
    const ended = await world.db.select().from(serverSessions)
    expect(ended.length).toBeGreaterThan(customers * runs * 0.4)
    expect(ended.filter((run) => run.meteredUntil !== null).length).toBeGreaterThan(ended.length * 0.8)
    expect(ended.filter((run) => run.endedAt === null)).toEqual([])
    expect([...plans.values()].flat().length).toBeGreaterThan(customers * 0.8)
  })

  test('no run is billed for more than EC2 saw it running', () => {
    for (const customer of everybody)
      for (const run of seen(customer)) {
        expect(run.start).toBeGreaterThanOrEqual(run.ran.start)
        expect(run.end).toBeLessThanOrEqual(run.ran.end)
      }
  })

  test('what the product metered is what was seen from outside', async () => {
    for (const customer of everybody) {
      const rows = await world.db
        .select()
        .from(serverSessions)
        .where(eq(serverSessions.userId, customer.user.id))
        .orderBy(asc(serverSessions.requestedAt))
      const metered = rows.filter((row) => row.runningAt !== null).map((row) => [row.runningAt, row.meteredUntil])
      expect(metered).toEqual(seen(customer).map((run) => [run.start, run.end]))
    }
  })

  test('the ledger is the independent re-computation, to the cent', async () => {
    let difference = 0
    let cents = 0
    for (const customer of everybody) {
      const ledger = await world.db
        .select()
        .from(billingRecords)
        .where(eq(billingRecords.userId, customer.user.id))
        .orderBy(asc(billingRecords.periodStart))
      const expected = independentBills(customer.born, until, plans.get(customer.user.id) ?? [], seen(customer))
      const written = ledger.filter((record) => record.periodEnd <= until)
      expect(written.map((r) => ({ start: r.periodStart, seconds: r.seconds, cents: r.amountCents }))).toEqual(expected)
      for (const [i, record] of written.entries())
        difference += Math.abs(record.amountCents - (expected[i]?.cents ?? 0))
      cents += written.reduce((sum, record) => sum + record.amountCents, 0)
    }
    console.info(`${everybody.length} customers, $${cents / 100} billed, difference ${difference} cents`)
    expect(difference).toBe(0)
    expect(cents).toBeGreaterThan(0)
  })

  test('every record that costs something has one invoice at Stripe, of just that amount', async () => {
    const bills = await world.db
      .select({ record: billingRecords, invoice: invoices })
      .from(billingRecords)
      .leftJoin(invoices, eq(invoices.recordId, billingRecords.id))
    const atStripe = new Map<string, number[]>()
    for (let after = ''; ; ) {
      const url = `${world.stripe.apiBase}/v1/invoices?collection_method=send_invoice&limit=100${after}`
      const page = (await (await fetch(url, { headers: { authorization: 'Bearer sk' } })).json()) as {
        data: { id: string; total: number; metadata: { record_id?: string } }[]
        has_more: boolean
      }
      for (const { total, metadata } of page.data) {
        const id = metadata.record_id ?? ''
        atStripe.set(id, [...(atStripe.get(id) ?? []), total])
      }
      if (!page.has_more) break
      after = `&starting_after=${page.data.at(-1)?.id}`
    }
    const costly = bills.filter(({ record }) => record.amountCents > 0)
    expect(costly.filter(({ invoice }) => invoice?.step !== 'sent')).toEqual([])
    expect(Object.fromEntries(atStripe)).toEqual(
      Object.fromEntries(costly.map(({ record }) => [record.id, [record.amountCents]])),
    )
  })
})

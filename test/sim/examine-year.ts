import { asc } from 'drizzle-orm'
import { bills, invoices, runs } from '../../db/schema.ts'
import type { Customer } from './customers.ts'
import { independentBills } from './independent-bill.ts'
import { seenPlans, seenRuns } from './seen.ts'
import { invoicedAtStripe } from './stripe-list.ts'
import type { YearWorld } from './year-world.ts'

export type YearReport = {
  customers: number
  plans: number
  /** How often someone pressed Start, got a place, and had a running server. */
  pressed: number
  started: number
  ran: number
  ended: number
  seconds: number
  records: number
  invoices: number
  cents: number
  /** Between the ledger and the independent bills, record by record. */
  differenceCents: number
  faults: Record<string, number>
  /** What is wrong, one line each. */
  wrong: string[]
}

/** Compares the product's records with those of EC2 and Stripe. `until`: leaves out cycles that end later. */
export async function examineYear(world: YearWorld, customers: Customer[], until: number): Promise<YearReport> {
  const { db } = world
  const plans = await seenPlans(world, customers)
  const rows = Map.groupBy(await db.select().from(runs).orderBy(asc(runs.requestedAt)), (row) => row.userId)
  const ledger = Map.groupBy(await db.select().from(bills).orderBy(asc(bills.periodStart)), (record) => record.userId)
  const steps = new Map((await db.select().from(invoices)).map(({ billId, step }) => [billId, step]))
  const atStripe = await invoicedAtStripe(world.stripe.apiBase)
  const instances = Map.groupBy(world.ec2.history(), (record) => record.tags.session ?? '')

  const report: YearReport = {
    ...{ customers: customers.length, plans: [...plans.values()].flat().length },
    ...{ pressed: 0, started: 0, ran: 0, ended: 0, seconds: 0, records: 0, cents: 0, differenceCents: 0 },
    invoices: [...atStripe.values()].flat().length,
    faults: { ...world.faults, ...stripeFaults(world) },
    wrong: [],
  }
  const expectSame = (what: string, found: unknown, expected: unknown) => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
    if (a !== b) report.wrong.push(`${what}: ${a}, expected ${b}`)
  }
  for (const customer of customers) {
    const { id } = customer.user
    const theirs = rows.get(id) ?? []
    const seen = seenRuns(world, customer, plans.get(id) ?? [], instances)
    for (const { start, end, ran } of seen)
      if (start < ran.start || end > ran.end) report.wrong.push(`${id} is billed beyond what EC2 saw running`)
    expectSame(
      `what ${id} was metered`,
      theirs.filter((row) => row.billedFrom !== null).map((row) => [row.billedFrom, row.meteredUntil]),
      seen.map((run) => [run.start, run.end]),
    )
    const written = (ledger.get(id) ?? []).filter((record) => record.periodEnd <= until)
    const expected = independentBills(customer.born, until, plans.get(id) ?? [], seen)
    expectSame(
      `the ledger of ${id}`,
      written.map((r) => ({ start: r.periodStart, seconds: r.seconds, cents: r.amountCents })),
      expected,
    )
    for (let i = 0; i < Math.max(written.length, expected.length); i++)
      report.differenceCents += Math.abs((written[i]?.amountCents ?? 0) - (expected[i]?.cents ?? 0))
    for (const record of ledger.get(id) ?? []) {
      const costs = record.amountCents > 0
      expectSame(`the invoices of ${record.id}`, atStripe.get(record.id) ?? [], costs ? [record.amountCents] : [])
      expectSame(`the invoicing of ${record.id}`, steps.get(record.id) ?? null, costs ? 'sent' : null)
    }
    report.pressed += customer.pressed
    report.started += theirs.length
    report.ran += seen.length
    report.ended += theirs.filter((row) => row.endedAt !== null).length
    report.seconds += written.reduce((sum, record) => sum + record.seconds, 0)
    report.records += written.length
    report.cents += written.reduce((sum, record) => sum + record.amountCents, 0)
  }
  return report
}

function stripeFaults({ stripe }: YearWorld): Record<string, number> {
  const calls = stripe.calls()
  return {
    'Stripe error': calls.filter((call) => call.status === 500).length,
    'Stripe no answer': calls.filter((call) => call.status === null).length,
  }
}

/** The sum of several worlds. */
export function addReports(reports: YearReport[]): YearReport {
  return reports.reduce((sum, one) => ({
    ...(Object.fromEntries(
      Object.entries(one).map(([key, value]) => [
        key,
        typeof value === 'number' ? value + (sum[key as 'cents'] ?? 0) : value,
      ]),
    ) as YearReport),
    faults: Object.fromEntries(
      [...new Set([...Object.keys(sum.faults), ...Object.keys(one.faults)])].map((fault) => [
        fault,
        (sum.faults[fault] ?? 0) + (one.faults[fault] ?? 0),
      ]),
    ),
    wrong: [...sum.wrong, ...one.wrong],
  }))
}

/** A year in which little happened proves little. */
export function whatIsMissing({ customers, plans, pressed, started, ran, ended, cents }: YearReport): string[] {
  return [
    ...(started < pressed * 0.5 ? [`only ${started} of ${pressed} starts were accepted`] : []),
    ...(ran < started * 0.85 ? [`only ${ran} of ${started} servers ever ran`] : []),
    ...(ran < customers * 4 ? [`only ${ran} runs of ${customers} customers`] : []),
    ...(ended < started ? [`${started - ended} runs did not end`] : []),
    ...(plans < customers * 0.8 ? [`only ${plans} plans`] : []),
    ...(cents === 0 ? ['nothing was billed'] : []),
  ]
}

/** Lines for people to read. */
export function reportLines(report: YearReport): string[] {
  const { wrong, faults, ...counts } = report
  return [
    ...Object.entries(counts).map(([name, count]) => `${name}: ${count}`),
    ...Object.entries(faults).map(([name, count]) => `fault ${name}: ${count}`),
    `wrong: ${wrong.length}`,
    ...wrong.slice(0, 20),
  ]
}

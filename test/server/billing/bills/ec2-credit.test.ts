import { and, eq, isNotNull } from 'drizzle-orm'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { NoAnswer, writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import { bills } from '../../../../db/schema/billing.ts'
import { launches, runs } from '../../../../db/schema/fleet.ts'
import { sumOfLines } from '../../../../src/domain/money/run-cost.ts'
import { WhatWasCorrected } from '../../../../src/pages/billing/Correction.tsx'
import { findStatement } from '../../../../src/server/billing/bills/billing-history.ts'
import { getBillingOverview } from '../../../../src/server/billing/bills/billing-overview.ts'
import { correctBill } from '../../../../src/server/billing/bills/corrections.ts'
import { creditDueRuns } from '../../../../src/server/billing/bills/ec2-credit.ts'
import { advanceInvoices } from '../../../../src/server/billing/bills/invoicing.ts'
import { settleMeter } from '../../../../src/server/billing/bills/settle-meter.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { getRun } from '../../../../src/server/operations/run-page.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { throughCalls } from '../../../../testing/stack/database.ts'
import { inBrief } from '../../../../testing/stack/recorded-log.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const stack = await openBillingStack(Date.UTC(2028, 0, 31, 8))

const read = async (id: string) => {
  const [run] = await stack.db.select().from(runs).where(eq(runs.id, id))
  if (!run) throw new Error('There is no run.')
  return run
}

/** A run whose machine EC2 says was there from `launchedAt` to `endedAt`. */
async function ranAtEc2(
  userId: string,
  run: { from: number; until: number },
  launchedAt: number,
  endedAt: number | null,
) {
  const id = await stack.insertRun(userId, run)
  await stack.db
    .update(runs)
    .set({ instanceId: `i-${id}` })
    .where(eq(runs.id, id))
  const launch = { token: newId('launch'), runId: id, placeId: 'srv_1', createdAt: run.from, outcome: 'gone' as const }
  await stack.db.insert(launches).values({ ...launch, instanceId: `i-${id}`, launchedAt, endedAt })
  return id
}

test('what EC2 ran shorter comes off the meter while no bill has it', async () => {
  const user = await stack.newUser()
  const from = stack.clock.now
  const run = { from, until: from + HOUR + 700 }
  const same = await ranAtEc2(user.id, run, from - 60_000, from + HOUR)
  expect((await settleMeter(stack.ctx, await read(same))).run).toMatchObject({
    meteredUntil: run.until,
    shortSeconds: 0,
    ec2Difference: 0,
  })
  await stack.db.delete(launches)
  const short = await ranAtEc2(user.id, run, from + 2_000, from + HOUR - 90_000)
  const settled = await settleMeter(stack.ctx, await read(short))
  expect(settled.run).toMatchObject({
    meteredUntil: from + HOUR - 92_000,
    shortSeconds: 92,
    creditSeconds: 0,
    creditAt: null,
    ec2Difference: -90,
  })
  expect(settled.queries).toHaveLength(1)
  const unknown = await ranAtEc2(user.id, run, from - 60_000, null)
  expect((await settleMeter(stack.ctx, await read(unknown))).run).toMatchObject({
    meteredUntil: run.until,
    ec2Difference: null,
  })
  const [before] = await stack.db.select().from(users).where(eq(users.id, user.id))
  // The bill that may be on its way read the longer meter.
  await stack.db.update(runs).set({ endedAt: null }).where(eq(runs.id, short))
  await writeBatch(stack.db, settled.queries)
  const [after] = await stack.db.select().from(users).where(eq(users.id, user.id))
  expect(after?.billingDueAt).not.toBe(before?.billingDueAt)
  await stack.db.delete(launches)
  await stack.db.delete(runs)
})

test('what a written bill has is credited by one correction, whatever runs twice', async () => {
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { hours: 1 })
  const start = stack.clock.now
  const run = { from: start + DAY, until: start + DAY + 3 * HOUR }
  const id = await ranAtEc2(user.id, run, run.from - 60_000, run.until - HOUR)
  await stack.passTime(Date.UTC(2028, 2, 1), DAY)
  const [bill] = await stack.billsOf(user.id)
  expect(bill).toMatchObject({ seconds: 10_800, amountCents: 350 })
  const settled = (await settleMeter(stack.ctx, await read(id))).run
  expect(settled).toMatchObject({ meteredUntil: run.until, shortSeconds: 3_600, creditSeconds: 3_600 })
  const { shortSeconds, creditSeconds, creditAt } = settled
  const due = () => stack.db.update(runs).set({ shortSeconds, creditSeconds, creditAt }).where(eq(runs.id, id))
  await due()
  await Promise.all([creditDueRuns(stack.ctx), creditDueRuns(stack.ctx)])
  await due()
  await creditDueRuns(stack.ctx)
  const written = await stack.billsOf(user.id)
  const credits = written.filter(({ corrects }) => corrects !== null)
  expect(credits).toMatchObject([
    {
      corrects: bill?.id,
      runId: id,
      seconds: -3_600,
      amountCents: -175,
      reason: `By EC2's record, ${id} ran 1h 0m 0s less than our meter said.`,
    },
  ])
  expect(written.find(({ corrects }) => corrects === null)).toEqual(bill)
  // Its row says what its page says.
  expect(await read(id)).toMatchObject({ creditAt: null, costUnits: 34_999_200 - 17_500_000 })
  const statement = await findStatement(stack.ctx, user.id, credits[0]?.id ?? '')
  if (!statement) throw new Error('The credit has no statement.')
  expect(renderToString(WhatWasCorrected({ statement }))).toContain(`href="/servers/${id}"`)
  // What its page and the API show.
  const { lines } = await getRun(stack.ctx, user.id, id)
  expect(lines).toMatchObject([
    { bill: { id: bill?.id }, correction: false, seconds: 10_800, included: 3_600, dollars: 3.49992 },
    {
      bill: { id: credits[0]?.id },
      correction: true,
      start: new Date(run.from).toISOString(),
      seconds: -3_600,
      included: 0,
      dollars: -1.75,
    },
  ])
  expect(sumOfLines(lines)).toEqual({
    seconds: 7_200,
    included_seconds: 3_600,
    billed_seconds: 3_600,
    dollars: 1.74992,
  })
})

test('a credit of more than the bill is given as well, on what corrected it upward', async () => {
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { hours: 1 })
  const start = stack.clock.now
  const run = { from: start + DAY, until: start + DAY + 3 * HOUR }
  const id = await ranAtEc2(user.id, run, run.from - 60_000, run.from)
  await stack.passTime(start + 32 * DAY, DAY)
  const [bill] = await stack.billsOf(user.id)
  await correctBill(stack.ctx, bill?.id ?? '', { seconds: 14_400, reason: 'Our clock was wrong.' })
  await advanceInvoices(stack.ctx)
  const { shortSeconds, creditSeconds, creditAt } = (await settleMeter(stack.ctx, await read(id))).run
  expect([bill?.amountCents, creditSeconds]).toEqual([350, 10_800])
  await stack.db.update(runs).set({ shortSeconds, creditSeconds, creditAt }).where(eq(runs.id, id))
  stack.takeLines()
  await creditDueRuns(stack.ctx)
  await advanceInvoices(stack.ctx)
  expect((await read(id)).creditAt).toBeNull()
  const [credit] = await stack.db.select().from(bills).where(eq(bills.runId, id))
  expect(credit).toMatchObject({ seconds: -10_800, amountCents: -525 })
  const notes = (await stack.atStripe<{ data: { amount: number; metadata: { record_id: string } }[] }>('credit_notes'))
    .data
  expect(
    notes
      .filter(({ metadata }) => metadata.record_id === credit?.id)
      .map(({ amount }) => amount)
      .sort((a, b) => a - b),
  ).toEqual([175, 350])
  expect((await getBillingOverview(stack.ctx, user.id)).unpaidDollars).toBe(0)
  expect(inBrief(stack.takeLines())).toEqual([])
})

test('a credit that fails does not delay the others, and is tried again every hour', async () => {
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { hours: 1 })
  const start = stack.clock.now
  const ids: string[] = []
  for (const day of [1, 2]) {
    const run = { from: start + day * DAY, until: start + day * DAY + 3 * HOUR }
    ids.push(await ranAtEc2(user.id, run, run.from - 60_000, run.until - HOUR))
  }
  await stack.passTime(start + 32 * DAY, DAY)
  const [broken = '', fine = ''] = ids
  for (const id of ids) {
    const { shortSeconds, creditSeconds, creditAt } = (await settleMeter(stack.ctx, await read(id))).run
    await stack.db.update(runs).set({ shortSeconds, creditSeconds, creditAt }).where(eq(runs.id, id))
    stack.clock.now += 1
  }
  await stack.db.run(`CREATE TRIGGER refuse BEFORE INSERT ON billing_records WHEN NEW.session_id = '${broken}'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`)
  stack.takeLines()
  // An outage sets none aside.
  const { $client } = stack.db
  const execute = async (statement: Parameters<typeof $client.execute>[0]) => {
    if (JSON.stringify(statement).includes('corrects')) throw new NoAnswer('The network is gone.')
    return $client.execute(statement)
  }
  const before = (await read(broken)).creditAt
  await expect(creditDueRuns({ ...stack.ctx, db: throughCalls(stack.db, { execute }) })).rejects.toThrow()
  expect([(await read(broken)).creditAt, inBrief(stack.takeLines())]).toEqual([before, []])
  for (const minutes of [0, 59]) {
    stack.clock.now += minutes * 60_000
    await creditDueRuns(stack.ctx)
  }
  expect([(await read(fine)).creditAt, (await read(broken)).creditAt]).toEqual([null, stack.clock.now + 60_000])
  const said = expect.objectContaining({ message: expect.stringContaining('refused') })
  const line = { event: 'alert', matter: 'credit_failed', runId: broken, error: expect.arrayContaining([said]) }
  expect(stack.takeLines()).toMatchObject([line])
  await stack.db.run('DROP TRIGGER refuse')
  stack.clock.now += 60_000
  await creditDueRuns(stack.ctx)
  expect((await read(broken)).creditAt).toBeNull()
  const credits = await stack.db
    .select()
    .from(bills)
    .where(and(eq(bills.userId, user.id), isNotNull(bills.runId)))
  expect(credits.map(({ runId, seconds }) => [runId, seconds])).toEqual([
    [fine, -3_600],
    [broken, -3_600],
  ])
})

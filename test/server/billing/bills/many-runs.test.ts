import { asc, eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { bills } from '../../../../db/schema/billing.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { closeDueCycles } from '../../../../src/server/billing/bills/close-cycles.ts'
import { openBillingStack } from '../../../../testing/stack/billing-stack.ts'
import { ownDatabase } from '../../../../testing/stack/own-database.ts'

const START = Date.UTC(2028, 0, 1)
const DAY = 86_400_000
const MINUTE = 60_000

// Only the real server limits how much one answer has.
const db = await ownDatabase()
const stack = await openBillingStack(START, { db })

test('two months of as many runs as anyone may start are billed, with one that ran in both', async () => {
  const user = await stack.newUser()
  await stack.insertPlan(user.id)
  // 120 a day, each of a minute.
  await db.run(sql`INSERT INTO server_sessions (id, user_id, server_id, instance_type, requested_at, running_at, billed_from,
      confirmed_at, metered_until, stop_requested_at, ended_at, ended_because, cost_units, image, name)
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 7199),
      span AS (SELECT i, ${START} + i * ${DAY / 120} AS a, ${START} + i * ${DAY / 120} + ${MINUTE} AS z FROM n)
    SELECT printf('ses_%06d', i), ${user.id}, 'srv_1', 'g6.4xlarge', a, a, a, z, z, z, z, 'you', 0, printf('%256s', 'i'), printf('%50s', 'n')
      FROM span`)
  await stack.insertRun(user.id, { from: START + 31 * DAY - MINUTE, until: START + 31 * DAY + MINUTE })
  await expect(db.select().from(runs).where(eq(runs.userId, user.id))).rejects.toMatchObject({
    cause: { code: 'RESPONSE_TOO_LARGE' },
  })
  stack.clock.now = START + 61 * DAY
  await closeDueCycles(stack.ctx)
  const written = await db.select().from(bills).where(eq(bills.userId, user.id)).orderBy(asc(bills.periodStart))
  expect(written.map(({ seconds }) => seconds)).toEqual([31 * 120 * 60 + 60, 29 * 120 * 60 + 60])
})

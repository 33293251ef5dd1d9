import { expect, test } from 'vitest'
import { listBills } from '../../src/server/billing/bills/billing-history.ts'
import { closeDueCycles } from '../../src/server/billing/bills/close-cycles.ts'
import { openBillingStack } from '../../testing/stack/billing-stack.ts'
import { ownDatabase } from '../../testing/stack/own-database.ts'
import { runScript } from '../../testing/stack/run-script.ts'

const HOUR = 3_600_000
const db = await ownDatabase()
const stack = await openBillingStack(Date.UTC(2028, 0, 1), { db })

const correct = async (...words: string[]) =>
  (await runScript('scripts/correct.ts', words, { ...process.env, LIBSQL_URL: db.url })).said

test('says what it corrected, that it was already done, or what is wrong', async () => {
  const user = await stack.newUser()
  await stack.insertPlan(user.id, { hours: 1 })
  await stack.insertRun(user.id, { from: stack.clock.now + HOUR, until: stack.clock.now + 3 * HOUR })
  stack.clock.now += 32 * 24 * HOUR
  await closeDueCycles(stack.ctx)
  const [{ id } = { id: '' }] = await listBills(stack.ctx, user.id)

  expect(await correct(id, '5400', 'Our clock was wrong.')).toMatch(
    new RegExp(`^bill_\\S+ corrects ${id} by -1800 seconds and -0.88 dollars\\.$`),
  )
  expect(await correct(id, '5400', 'Our clock was wrong.')).toBe(`${id} already says 5400 seconds. Nothing changed.`)
  expect(await correct('bill_none', '1', 'x')).toBe('There is no bill bill_none.')
  expect(await correct(id, '', 'x')).toMatch('whole number')
  expect(await correct(id)).toMatch('Usage')
})

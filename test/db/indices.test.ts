import type { InStatement } from '@libsql/client/http'
import { expect, test } from 'vitest'
import { freeClosedAddresses, stopServersOfClosed } from '../../src/server/accounts/close-account.ts'
import { stopOverdueServers } from '../../src/server/accounts/overdue-servers.ts'
import { collectPersonalData } from '../../src/server/accounts/personal-data.ts'
import { runLists } from '../../src/server/accounts/personal-runs.ts'
import { noteStoppedSignIns } from '../../src/server/accounts/stopped-sign-ins.ts'
import { closeDueCycles } from '../../src/server/billing/bills/close-cycles.ts'
import { advanceInvoices } from '../../src/server/billing/bills/invoicing.ts'
import { reconcilePlans } from '../../src/server/billing/plans/reconcile.ts'
import { countStartTimes } from '../../src/server/fleet/count-start-times.ts'
import { watchFleet } from '../../src/server/fleet/look.ts'
import { wakeOverdue } from '../../src/server/fleet/sweep.ts'
import { deliverMail } from '../../src/server/mail/outbox.ts'
import { memoryDatabase } from '../../testing/stack/memory-database.ts'
import { freshPlaces, newCustomer } from '../../testing/world/fleet.ts'
import { pressStop, running, settle } from '../../testing/world/play.ts'
import { openWorld } from '../../testing/world/world.ts'

/** Tables that stay small, or that we read only for a person's request; and what a query has found by an index. */
const MAY_BE_SCANNED = new Set([
  'json_each',
  'ended',
  'checkouts',
  'contact_messages',
  'line',
  'server_requests',
  'cold',
  'warm_machines',
])

const world = await openWorld(memoryDatabase('libsql'))

test('every query that runs per server or per minute uses an index', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const asked = new Map<string, InStatement>()
  const client = world.ctx.db.$client
  const { execute, batch } = client
  const note = (statement: InStatement) =>
    asked.set(typeof statement === 'string' ? statement : statement.sql, statement)
  client.execute = ((statement: InStatement) => {
    note(statement)
    return execute(statement)
  }) as typeof execute
  client.batch = ((statements: InStatement[], mode: 'write') => {
    statements.forEach(note)
    return batch(statements, mode)
  }) as typeof batch

  await running(world, ada)
  // One look that finds it, one that doesn't, and one that says it ended.
  const { listPage } = world.ctx.cloud
  await watchFleet(world.ctx)
  world.ctx.cloud.listPage = async () => ({ instances: [], next: null })
  await watchFleet(world.ctx)
  const [known] = (await listPage(null)).instances
  if (!known) throw new Error('There is no instance.')
  world.ctx.cloud.listPage = async () => ({ instances: [{ ...known, id: 'i-another', state: 'stopped' }], next: null })
  await watchFleet(world.ctx)
  world.ctx.cloud.listPage = async () => ({ instances: [{ ...known, state: 'pending' }], next: null })
  await watchFleet(world.ctx)
  await pressStop(world, ada)
  await settle(world, ada)
  const minutely = [
    wakeOverdue,
    deliverMail,
    freeClosedAddresses,
    closeDueCycles,
    advanceInvoices,
    countStartTimes,
    noteStoppedSignIns,
  ]
  for (const task of [...minutely, stopOverdueServers, stopServersOfClosed, reconcilePlans]) await task(world.ctx)
  await collectPersonalData(world.ctx, ada.user)
  for (const pieces of Object.values(runLists(world.ctx, ada.user))) for await (const _ of pieces);

  expect(asked.size).toBeGreaterThan(40)
  const scans: string[] = []
  for (const [sql, statement] of asked) {
    const args = typeof statement === 'string' ? [] : (statement.args ?? [])
    const { rows } = await world.db.$client.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args })
    for (const { detail } of rows) {
      const [, table] = /^SCAN (\w+)/.exec(String(detail)) ?? []
      if (table && table !== 'CONSTANT' && !MAY_BE_SCANNED.has(table)) scans.push(`${detail}: ${sql.slice(0, 80)}`)
    }
  }
  expect(scans).toEqual([])
})

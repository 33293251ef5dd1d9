import { expect, test } from 'vitest'
import { getUsage } from '../../../../src/server/billing/bills/usage.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { freshPlaces, newCustomer } from '../../../../testing/world/fleet.ts'
import { pressStart, pressStop, running, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())

test('a trial does not refill: its minutes count however long ago they were used', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 1_800 })
  world.advance(100 * 86_400)
  expect((await getUsage(world.ctx, ada.user.id)).seconds).toBe(1_800)
  await expect(pressStart(world, ada)).rejects.toMatchObject({ code: 'no_minutes' })
})

test('a running meter counts up to the end of its trial', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: 1_700 })
  await running(world, ada)
  world.advance(3_600)
  expect((await getUsage(world.ctx, ada.user.id)).seconds).toBe(1_800)
  await pressStop(world, ada)
  await settle(world, ada)
})

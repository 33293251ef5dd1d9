import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { runs } from '../../../db/schema/fleet.ts'
import { checkServerAddress } from '../../../src/server/fleet/addresses.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { aliveOf, freshPlaces, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStop, running } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())

test('contacts only your own running server', async () => {
  await freshPlaces(world, 2)
  const [ada, eve] = [await newCustomer(world), await newCustomer(world)]
  const own = (await running(world, ada)).ipAddress ?? ''
  const foreign = (await running(world, eve)).ipAddress ?? ''
  const internal = aliveOf(world, ada.user.id)[0]?.privateIp ?? ''
  const refused = [
    ...['', ' ', `${own} `, ` ${own}`, `${own}:5173`, `${own}:22`, `http://${own}`, `${own}/`, `${own}.`, `${own}\n`],
    ...[foreign, internal, 'localhost', '127.0.0.1', '127.1', '0.0.0.0', '0', '::1', '[::1]', '::ffff:127.0.0.1'],
    ...[`::ffff:${own}`, '2130706433', '0x7f000001', '0177.0.0.1', '10.0.0.1', '192.168.0.1', '172.16.0.1'],
    ...['[::ffff:7f00:1]', '127.0.0.1:8080', `${own}@127.0.0.1`, `${own}#.internal`, `${own}\r\nHost: x`],
    ...['169.254.169.254', 'fd00:ec2::254', 'metadata.google.internal', '100.64.0.1', '8.8.8.8', "' OR 1=1 --", '%'],
  ]
  world.reached.length = 0
  for (const address of refused)
    await expect(checkServerAddress(world.ctx, ada.user.id, address), address).rejects.toMatchObject({
      code: 'not_found',
    })
  expect(world.reached).toEqual([])
  expect(await checkServerAddress(world.ctx, ada.user.id, own)).toEqual({ status: 'reachable', code: null })
  expect(world.reached).toEqual([own])
  // Someone else may have it by now.
  const forgetStop = () => world.db.update(runs).set({ stopRequestedAt: null }).where(eq(runs.userId, ada.user.id))
  for (const end of [pressStop, finishJobs, forgetStop]) {
    await end(world, ada)
    await expect(checkServerAddress(world.ctx, ada.user.id, own)).rejects.toMatchObject({ code: 'not_found' })
  }
  expect(world.reached).toEqual([own])
})

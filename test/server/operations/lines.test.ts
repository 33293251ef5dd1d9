import { expect, test } from 'vitest'
import { line, lineWaits } from '../../../db/schema/line.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { readLines } from '../../../src/server/operations/lines.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { newCustomer } from '../../../testing/world/fleet.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())

test('capacity is short while someone waits, even if a place of another size is free', async () => {
  const now = Date.UTC(2026, 10, 23, 12)
  const short = async () => (await readLines({ db: world.db, now: () => now })).short.filter(({ value }) => value > 0)
  expect(await short()).toEqual([])
  // A wait of 40 minutes that is over, and one of 20 that isn't: on average over four weeks.
  const wait = { gpus: 1, trial: false, position: 1, served: true }
  await world.db.insert(lineWaits).values({ ...wait, joinedAt: now - 3 * HOUR_MS, waitedMs: 40 * MINUTE_MS })
  const since = now - 20 * MINUTE_MS
  const [waits, held] = [await newCustomer(world), await newCustomer(world)]
  const row = { gpus: 1, trial: false, start: true, wishes: NO_WISHES }
  await world.db.insert(line).values([
    { ...row, userId: waits.user.id, joinedAt: since, queuedAt: since },
    { ...row, userId: held.user.id, joinedAt: since - HOUR_MS, queuedAt: since, givenAt: since },
  ])
  expect(await short()).toEqual([
    { label: 'Mon 09:00', value: 10 },
    { label: 'Mon 11:00', value: 5 },
  ])
})

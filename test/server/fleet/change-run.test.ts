import { and, asc, eq, ne } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { runEvents } from '../../../db/schema/fleet.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { changeRun } from '../../../src/server/fleet/change-run.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { toServer } from '../../../src/server/fleet/wire.ts'
import { freshPlaces, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStop, settle } from '../../../testing/world/play.ts'
import { quietWorld } from '../../../testing/world/quiet-world.ts'

const world = await quietWorld()

const [MINUTE, HOUR] = [60_000, 3_600_000]

/** A running server, and its end if this many ms are given. */
async function running(stopAfterMs: number | null, account: Parameters<typeof newCustomer>[1] = {}) {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, account)
  const { ctx } = world.process
  const { run } = await startRun(ctx, { ...ada, tokenName: 'CI' }, null, null, { ...NO_WISHES, stopAfterMs })
  await world.process.settle()
  await finishJobs(world, ada)
  const change = (endsAt?: number | null, name?: string | null) =>
    changeRun(ctx, ada, run.id, { ends_at: endsAt == null ? endsAt : iso(endsAt), name })
  const recorded = async () =>
    (
      await world.db
        .select()
        .from(runEvents)
        .where(and(eq(runEvents.runId, run.id), ne(runEvents.what, 'warned')))
        .orderBy(asc(runEvents.at))
    ).map(({ what, detail, by }) => [what, detail, by])
  return { ada, run: () => latestRun(world, ada.user.id), id: run.id, change, recorded }
}

const iso = (ms: number) => new Date(ms).toISOString()

test('an end that its user moves away holds, and its record says who moved it', async () => {
  const { ada, run, change, recorded } = await running(HOUR)
  const first = (await run()).endsAt ?? 0
  const second = first + HOUR
  expect((await change(second)).endsAt).toBe(second)
  await change(second)
  world.clock.ms = first + MINUTE
  await world.ring(ada.user.id)
  expect((await run()).stopRequestedAt).toBeNull()
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: second })
  expect(toServer(await run()).ended_because).toBe('time_up')
  expect(await recorded()).toEqual([
    ['end_set', iso(first), 'token:CI'],
    ['end_moved', iso(second), 'site'],
  ])
})

test('an end that moves nearer wakes the channel, which keeps it to the millisecond', async () => {
  const { ada, run, change } = await running(5 * HOUR)
  const end = world.clock.ms + 20 * MINUTE
  await change(end)
  await world.process.settle()
  while ((await run()).stopRequestedAt === null) await world.ring(ada.user.id)
  expect((await run()).stopRequestedAt).toBeLessThan(end + 1_000)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: end })
})

test('a run without an end gets one, and loses it again', async () => {
  const { ada, run, change, recorded } = await running(null)
  const end = world.clock.ms + HOUR
  await change(end)
  await change(null)
  world.clock.ms = end + MINUTE
  await world.ring(ada.user.id)
  expect(await run()).toMatchObject({ endsAt: null, stopRequestedAt: null })
  expect(await recorded()).toEqual([
    ['end_set', iso(end), 'site'],
    ['end_removed', null, 'site'],
  ])
  await pressStop(world, ada)
  await settle(world, ada)
})

test('an end that has come is not taken back, even before anyone looked', async () => {
  const { ada, run, change, recorded } = await running(HOUR)
  const end = (await run()).endsAt ?? 0
  world.clock.ms = end
  const refused = { code: 'not_running', message: 'This server is already stopping or stopped.' }
  await expect(change(end + HOUR)).rejects.toMatchObject(refused)
  await expect(change(null)).rejects.toMatchObject(refused)
  await settle(world, ada)
  await expect(change(world.clock.ms + HOUR)).rejects.toMatchObject(refused)
  expect(await run()).toMatchObject({ endsAt: end, meteredUntil: end })
  expect(await recorded()).toHaveLength(1)
  // Its name is for its user's own list.
  expect((await change(undefined, 'Lidar')).name).toBe('Lidar')
  expect((await recorded()).at(-1)).toEqual(['renamed', 'Lidar', 'site'])
})

test('a program that renames its run all day waits, and leaves the last hundred names beside its moves', async () => {
  const { ada, run, change, recorded } = await running(HOUR)
  const first = (await run()).endsAt ?? 0
  await change(undefined, 'same')
  for (let i = 0; i < 200; i++) await change(undefined, 'same')
  for (let i = 1; i < 120; i++) await change(undefined, `at ${i}`)
  await expect(change(undefined, 'too often')).rejects.toMatchObject({ code: 'too_many' })
  const names = Array.from({ length: 100 }, (_, i) => ['renamed', `at ${i + 20}`, 'site'])
  expect(await recorded()).toEqual([['end_set', iso(first), 'token:CI'], ...names])
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a stop between the read and the write wins', async () => {
  const { ada, run, change, recorded } = await running(HOUR)
  let came = false
  world.wire = async (name, effect) => {
    if (name.startsWith('db: batch') && !came) {
      came = true
      await pressStop(world, ada)
    }
    return effect()
  }
  await expect(change(world.clock.ms + 2 * HOUR)).rejects.toMatchObject({ code: 'not_running' })
  world.wire = (_, effect) => effect()
  await settle(world, ada)
  expect([came, toServer(await run()).ended_because, (await recorded()).length]).toEqual([true, 'you', 1])
})

test('a move between the look and the stop wins', async () => {
  const { ada, run, change } = await running(HOUR)
  const end = (await run()).endsAt ?? 0
  world.clock.ms = end - 1
  let moved = false
  world.wire = async (name, effect) => {
    // The look has read the old end. The move was accepted a moment before it.
    if (name.startsWith('db: batch') && !moved) {
      moved = true
      await world.db.$client.execute(`UPDATE server_sessions SET ends_at = ${end + HOUR}`)
    }
    return effect()
  }
  world.clock.ms = end
  await world.ring(ada.user.id)
  world.wire = (_, effect) => effect()
  expect([moved, await run()]).toMatchObject([true, { stopRequestedAt: null, endsAt: end + HOUR }])
  await change(null)
  await pressStop(world, ada)
  await settle(world, ada)
})

test('an end beyond a trial is accepted, but the trial ends at its minutes', async () => {
  const { ada, run, change } = await running(10 * MINUTE, { demo: true, secondsUsed: 600 })
  const { mustStopAt } = await run()
  await change((mustStopAt ?? 0) + HOUR)
  await settle(world, ada)
  expect(await run()).toMatchObject({ meteredUntil: mustStopAt })
  expect(toServer(await run()).ended_because).toBe('trial_over')
})

test('what its end could be matters only while it lives, and only to its owner', async () => {
  const { ada, change, id } = await running(HOUR)
  const past = world.clock.ms - MINUTE
  await expect(change(past)).rejects.toMatchObject({ code: 'invalid' })
  const eve = await newCustomer(world)
  await expect(changeRun(world.process.ctx, eve, id, { ends_at: iso(past) })).rejects.toMatchObject({
    code: 'not_found',
  })
  await pressStop(world, ada)
  await expect(change(past)).rejects.toMatchObject({ code: 'not_running' })
  await settle(world, ada)
})

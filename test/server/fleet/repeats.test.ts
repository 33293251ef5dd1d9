import { expect, test } from 'vitest'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { stopRun } from '../../../src/server/fleet/stop-run.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { freshPlaces, jobsOf, newCustomer } from '../../../testing/world/fleet.ts'
import { settle } from '../../../testing/world/play.ts'
import { Lost } from '../../../testing/world/wire.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())

/** Every change takes effect, but the program gets no answer. */
const loseAnswers = () => {
  world.wire = async (name, effect) => {
    const answer = await effect()
    if (name.startsWith('db: batch UPDATE servers') || name.startsWith('db: batch INSERT INTO jobs'))
      throw new Lost(name)
    return answer
  }
}

test('a key is tied to its job by the very write that starts or stops, so a lost answer is found again', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const repeat = (key: string) => ({ userId: ada.user.id, key, digest: key })
  loseAnswers()
  const started = await startRun(world.ctx, ada, null, repeat('start'))
  const which = { runId: started.run.id, placeId: started.run.placeId }
  const stopped = await stopRun(world.ctx, ada.user.id, which, repeat('stop'))
  world.wire = (_, effect) => effect()
  await settle(world, ada)
  expect((await startRun(world.ctx, ada, null, repeat('start'))).job.id).toBe(started.job.id)
  expect((await stopRun(world.ctx, ada.user.id, which, repeat('stop'))).job.id).toBe(stopped.job.id)
  expect((await jobsOf(world, ada.user.id)).map(({ kind }) => kind).sort()).toEqual(['server_start', 'server_stop'])
})

import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { writeBatch } from '../../../../db/client.ts'
import { outbox } from '../../../../db/schema/mail.ts'
import { liftTrialEndQueries } from '../../../../src/server/billing/plans/grants.ts'
import { wakeOverdue } from '../../../../src/server/fleet/sweep.ts'
import { type Customer, freshPlaces, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStop, running, settle } from '../../../../testing/world/play.ts'
import { quietWorld } from '../../../../testing/world/quiet-world.ts'

const world = await quietWorld()

const written = async ({ user }: Customer) =>
  (await world.db.select().from(outbox).where(eq(outbox.recipient, user.email))).map(({ subject }) => subject)
const sent = ({ user }: Customer) => world.mails.filter(({ to }) => to === user.email)

async function trial(minutesUsed: number) {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { demo: true, secondsUsed: minutesUsed * 60 })
  return { ada, run: await running(world, ada) }
}

test('we email when 5 minutes of a trial are left, and again when it is over, once each', async () => {
  const { ada, run } = await trial(22)
  const end = run.mustStopAt ?? 0
  while ((await written(ada)).length === 0) await world.ring(ada.user.id)
  expect(world.clock.ms).toBeGreaterThanOrEqual(end - 5 * 60_000)
  expect(world.clock.ms).toBeLessThan(end - 5 * 60_000 + 1_000)
  await settle(world, ada)
  await world.process.settle()
  const [ending, over, ...more] = sent(ada)
  expect(more).toEqual([])
  expect(ending?.subject).toBe('5 free minutes left')
  expect(ending?.text).toContain('we stop the server and erase its disk. First download anything you want to keep.')
  expect(over?.subject).toBe('Your free trial is over')
  for (const mail of [ending, over]) {
    expect(mail?.text).toContain('Basic: $25.00 a month with 5 hours. Premium: $250.00 a month with 30 hours.')
    expect(mail?.text).toContain('See plans:\nhttp://site.test/subscriptions')
  }
  expect(await latestRun(world, ada.user.id)).toMatchObject({ meteredUntil: end, trialWarnedAt: expect.any(Number) })
})

test('a late look says how many minutes are really left', async () => {
  const { ada, run } = await trial(22)
  world.clock.ms = (run.mustStopAt ?? 0) - 61_000
  await wakeOverdue(world.ctx)
  await world.ring(ada.user.id)
  expect(await written(ada)).toEqual(['2 free minutes left'])
  await pressStop(world, ada)
  await settle(world, ada)
})

test('for a run that starts with less than 5 minutes left, we email only that it is over', async () => {
  const { ada } = await trial(26)
  await settle(world, ada)
  expect(await written(ada)).toEqual(['Your free trial is over'])
})

test('a plan that comes in time, or a stop, sends nothing', async () => {
  const { ada, run } = await trial(22)
  await writeBatch(world.db, liftTrialEndQueries(world.ctx, ada.user.id))
  world.clock.ms = (run.mustStopAt ?? 0) + 1_000
  await wakeOverdue(world.ctx)
  await finishJobs(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  const bob = await trial(22)
  await pressStop(world, bob.ada)
  await settle(world, bob.ada)
  expect([...(await written(ada)), ...(await written(bob.ada))]).toEqual([])
})

test.each(['a plan', 'a stop'])(
  '%s that comes while we write the email about the last minutes keeps it back',
  async (what) => {
    const { ada, run } = await trial(22)
    world.clock.ms = (run.mustStopAt ?? 0) - 61_000
    await wakeOverdue(world.ctx)
    let came = false
    world.wire = async (name, effect) => {
      if (name.startsWith('db: batch') && !came) {
        came = true
        if (what === 'a stop') await pressStop(world, ada)
        else await writeBatch(world.db, liftTrialEndQueries(world.ctx, ada.user.id))
      }
      return effect()
    }
    await world.ring(ada.user.id)
    world.wire = (_, effect) => effect()
    expect([came, await written(ada)]).toEqual([true, []])
    expect(await latestRun(world, ada.user.id)).toMatchObject({ trialWarnedAt: null })
    if (what === 'a plan') await pressStop(world, ada)
    await settle(world, ada)
  },
)

test('if a process dies while it writes, we still send one of each', async () => {
  const { ada } = await trial(24)
  let deaths = 0
  world.wire = async (name, effect) => {
    const done = await effect()
    // Its writes took effect, but it got no answer.
    if (name.startsWith('db') && deaths < 8 && (await written(ada)).length && ++deaths) world.process.kill()
    return done
  }
  await settle(world, ada)
  world.wire = (_, effect) => effect()
  await world.process.settle()
  expect(await written(ada)).toEqual(['5 free minutes left', 'Your free trial is over'])
  world.takeLines()
})

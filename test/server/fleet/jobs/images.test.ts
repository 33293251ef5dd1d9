import { eq } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { environments } from '../../../../db/schema/fleet.ts'
import { alerts, incidents } from '../../../../db/schema/operations.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { newId } from '../../../../src/server/crypto/id.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { checkStarts } from '../../../../src/server/operations/status.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { alertsOf } from '../../../../testing/stack/operator.ts'
import {
  aliveOf,
  freshPlaces,
  holders,
  instancesOf,
  jobsOf,
  latestRun,
  newCustomer,
} from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStop, running, sentences, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
afterEach(async () => {
  world.answerMs = 0
  world.takeLines()
  await world.db.delete(alerts)
  await world.db.delete(environments).where(eq(environments.description, 'A test.'))
})
const NEVER = Number.POSITIVE_INFINITY
const MISSING = 'registry.invalid/example/harbor:1'

const incidentKinds = async () => (await world.db.select().from(incidents)).map(({ kind }) => kind)

/** Someone starts a server in an environment with this image: their own, or the catalog's. */
async function startWith(image: string | null, { own = false } = {}) {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { premium: true })
  const name = `Harbor-${newId('env').slice(-8)}`
  await world.db.insert(environments).values({
    ...{ id: newId('env'), name, description: 'A test.', image, plans: ['premium'], position: 9, createdAt: 0 },
    userId: own ? ada.user.id : null,
  })
  await startRun(world.process.ctx, ada, null, null, { ...NO_WISHES, environment: name, vehicle: 'multi' })
  await world.process.settle()
  return { ada, name }
}

/** Its machine runs and finds no image. Only our look at the fleet notices. */
async function failToPull(image: string, options = {}) {
  const started = await startWith(image, options)
  const { ada } = started
  await world.ringUntil(ada.user.id, async () => (await latestRun(world, ada.user.id)).runningAt !== null)
  const ran = world.clock.ms
  world.advance(5)
  await world.watch()
  await settle(world, ada)
  return { ...started, took: world.clock.ms - ran }
}

test('the machine reads what to run in its tags', async () => {
  const { ada, name } = await startWith('ghcr.io/example/harbor:1')
  await finishJobs(world, ada)
  const { tags } = instancesOf(world, ada.user.id)[0] ?? { tags: {} }
  expect(
    Object.keys(tags)
      .filter((key) => !key.startsWith('aws:'))
      .sort(),
  ).toEqual(['Name', 'app', 'environment', 'image', 'launch', 'session', 'user', 'vehicle'].sort())
  expect(tags).toMatchObject({ environment: name, vehicle: 'multi', image: 'ghcr.io/example/harbor:1' })
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a machine that runs its own image gets no tag for one', async () => {
  const { ada } = await startWith(null)
  await finishJobs(world, ada)
  expect(instancesOf(world, ada.user.id)[0]?.tags).not.toHaveProperty('image')
  await pressStop(world, ada)
  await settle(world, ada)
})

test('an image that cannot be pulled fails the start within a minute, bills nothing, and names the image to the operator', async () => {
  const { ada, name, took } = await failToPull(MISSING)
  expect(took).toBeLessThan(60_000)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ billedFrom: null, meteredUntil: null })
  expect((await jobsOf(world, ada.user.id)).map(({ errorCode }) => errorCode)).toEqual([
    'image_not_found',
    'image_not_found',
  ])
  expect(sentences(world, ada)).toContain(
    `${name} didn't start, because its image couldn't be loaded. We've been notified. Please try again later, or choose another environment. You weren't charged.`,
  )
  const { matters, mails } = await alertsOf(world)
  expect(matters).toEqual([`image_failed:${MISSING}`])
  expect(mails).toContain(`${name} can't start: no ${MISSING}`)
  expect(aliveOf(world, ada.user.id)).toEqual([])
  expect(await holders(world)).toEqual([])
})

test('a machine that gave up before we saw it run fails the start in the same words', async () => {
  const { ada, name } = await startWith(MISSING)
  await world.ring(ada.user.id)
  world.advance(60)
  await settle(world, ada)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ runningAt: null, billedFrom: null })
  expect(await jobsOf(world, ada.user.id)).toMatchObject([{ kind: 'server_start', errorCode: 'image_not_found' }])
  expect(sentences(world, ada).at(-1)).toMatch(new RegExp(`^${name} didn't start, .* You weren't charged\\.$`))
  expect((await alertsOf(world)).matters).toEqual([`image_failed:${MISSING}`])
})

test("tells its owner about an image of their own, not the operator, and doesn't call it our fault", async () => {
  const broken = [await failToPull(MISSING, { own: true }), await failToPull(MISSING, { own: true })]
  await failToPull(MISSING, { own: true })
  for (const { ada } of broken)
    expect(sentences(world, ada)).toContain(
      `Your server couldn't pull ${MISSING}. Check that this image exists, and that it is public or you saved a login for its registry. You weren't charged.`,
    )
  expect((await alertsOf(world)).matters).toEqual([])
  await freshPlaces(world, 1)
  await checkStarts(world.ctx)
  expect(await incidentKinds()).not.toContain('failing')
})

test('three starts of two people that find no image of ours are an incident', async () => {
  for (let i = 0; i < 3; i++) await failToPull(MISSING)
  await freshPlaces(world, 1)
  await checkStarts(world.ctx)
  expect(await incidentKinds()).toContain('failing')
})

test('an image of their own that never answers is not a matter for the operator', async () => {
  world.answerMs = NEVER
  const { ada } = await startWith('ghcr.io/example/silent:1', { own: true })
  await finishJobs(world, ada)
  expect(sentences(world, ada)).toContain(
    "Your server did not answer within 10 minutes, so we stopped it. Check that your image listens on port 5173. You weren't charged.",
  )
  expect((await alertsOf(world)).matters).toEqual([])
  await settle(world, ada)
})

test('what parameters may have kept from answering is not a matter for the operator', async () => {
  world.answerMs = NEVER
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  await startRun(world.process.ctx, ada, null, null, { ...NO_WISHES, parameters: { SCENARIO: 'nowhere' } })
  await world.process.settle()
  await finishJobs(world, ada)
  expect((await alertsOf(world)).matters).toEqual([])
  await settle(world, ada)
})

test('a server that answered and then shut itself down is lost, whatever its image', async () => {
  const { listPage } = world.ctx.cloud
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  const run = await running(world, ada)
  world.ctx.cloud.listPage = async (after) => {
    const page = await listPage(after)
    const ended = { state: 'terminated' as const, shutItselfDown: true }
    return { ...page, instances: page.instances.map((one) => (one.id === run.instanceId ? { ...one, ...ended } : one)) }
  }
  await world.watch()
  world.ctx.cloud.listPage = listPage
  await settle(world, ada)
  expect((await jobsOf(world, ada.user.id)).at(-1)).toMatchObject({ errorCode: 'instance_lost' })
  expect((await alertsOf(world)).matters).toEqual([])
})

import { eq } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { plans } from '../../../db/schema/billing.ts'
import { environments } from '../../../db/schema/fleet.ts'
import { DAY_MS } from '../../../src/domain/instant.ts'
import type { PlanType } from '../../../src/domain/money/plan.ts'
import {
  MAX_OWN_ENVIRONMENTS,
  NAME_TAKEN,
  OWN_NEEDS_PLAN,
  TOO_MANY_ENVIRONMENTS,
} from '../../../src/domain/own-environment.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { listActivity } from '../../../src/server/accounts/activity.ts'
import {
  addOwnEnvironment,
  ownEnvironmentsQuery,
  removeOwnEnvironment,
} from '../../../src/server/fleet/own-environments.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { type Customer, freshPlaces, instancesOf, newCustomer, runsOf } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStop, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
afterEach(() => {
  world.wire = (_, effect) => effect()
})
const IMAGE = 'ghcr.io/ada/harbor:1'

const add = (customer: Customer, name = 'Harbor', image = IMAGE) =>
  addOwnEnvironment(world.process.ctx, customer, { name, image })
const own = ({ user }: Customer) => ownEnvironmentsQuery(world.process.ctx, user.id)
const start = (customer: Customer, environment = 'Harbor') =>
  startRun(world.process.ctx, customer, null, null, { ...NO_WISHES, environment })
const setPlan = ({ user }: Customer, planType: PlanType) =>
  world.db.update(plans).set({ planType }).where(eq(plans.userId, user.id))

test('someone on Premium starts an image of their own, and its machine learns the image', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { premium: true })
  await add(ada)
  const { run } = await start(ada, 'harbor')
  expect(run).toMatchObject({ environment: 'Harbor', image: IMAGE })
  await world.process.settle()
  await finishJobs(world, ada)
  expect(instancesOf(world, ada.user.id)[0]?.tags).toMatchObject({ environment: 'Harbor', image: IMAGE })
  await removeOwnEnvironment(world.process.ctx, ada, 'HARBOR')
  expect(await own(ada)).toEqual([])
  expect((await runsOf(world, ada.user.id))[0]?.endedAt).toBeNull()
  await pressStop(world, ada)
  await settle(world, ada)
  await expect(start(ada)).rejects.toMatchObject({ code: 'not_offered' })
})

test('an image that a token adds or swaps is emailed, and on Activity', async () => {
  const ada = await newCustomer(world, { premium: true })
  const { ctx } = world.process
  const token = { ...ada, tokenName: 'CI' }
  await add(ada)
  await removeOwnEnvironment(ctx, token, 'Harbor')
  await expect(removeOwnEnvironment(ctx, token, 'Harbor')).rejects.toMatchObject({ code: 'not_found' })
  await addOwnEnvironment(ctx, token, { name: 'Harbor', image: 'ghcr.io/evil/harbor:1' })
  await expect(addOwnEnvironment(ctx, token, { name: 'Harbor', image: IMAGE })).rejects.toThrow()
  await world.process.settle()
  const texts = world.mails.filter(({ to }) => to === ada.user.email).map(({ text }) => text.replaceAll(/\s+/g, ' '))
  expect(texts.map((text) => /\w+ the environment [^.]+\./.exec(text)?.[0]).sort()).toEqual([
    'added the environment Harbor with the API token CI.',
    'added the environment Harbor.',
    'removed the environment Harbor with the API token CI.',
  ])
  expect(texts.join()).not.toContain('ghcr.io')
  const { lines } = await listActivity(ctx, ada.user, null)
  expect(
    lines
      .map(({ what }) => what)
      .filter((what) => what.startsWith('Environment'))
      .sort(),
  ).toEqual(['Environment added', 'Environment added', 'Environment removed'])
})

test('a program swaps an image with each of 60 builds: three emails a day about each, and all on Activity', async () => {
  const ada = await newCustomer(world, { premium: true })
  const { ctx } = world.process
  const told = () =>
    world.mails.filter(({ to, subject }) => to === ada.user.email && subject.includes('environment')).length
  for (let build = 0; build < 60; build++) {
    await add(ada)
    await removeOwnEnvironment(ctx, ada, 'Harbor')
  }
  await world.process.settle()
  expect(told()).toBe(6)
  const { lines } = await listActivity(ctx, ada.user, null, 200)
  expect(lines.filter(({ what }) => what.startsWith('Environment'))).toHaveLength(120)
  world.clock.ms += DAY_MS
  await add(ada)
  await world.process.settle()
  expect(told()).toBe(7)
})

test.each(['demo', 'basic'] as const)('someone on %s adds none', async (plan) => {
  const ada = await newCustomer(world, plan === 'demo' ? { demo: true } : {})
  await expect(add(ada)).rejects.toMatchObject({ code: 'forbidden', message: OWN_NEEDS_PLAN })
  expect(await own(ada)).toEqual([])
})

test('after a downgrade it stays listed and does not start, and starts again after an upgrade', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { premium: true })
  await add(ada)
  await setPlan(ada, 'basic')
  expect(await own(ada)).toHaveLength(1)
  await expect(start(ada)).rejects.toMatchObject({ code: 'not_offered', message: /^Harbor needs Premium\. / })
  expect(await runsOf(world, ada.user.id)).toEqual([])
  await setPlan(ada, 'enterprise')
  expect((await start(ada)).run.environment).toBe('Harbor')
  await world.process.settle()
  await pressStop(world, ada)
  await settle(world, ada)
})

test('a downgrade just before the write starts nothing', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world, { premium: true })
  await add(ada)
  world.wire = async (call, effect) => {
    if (call === 'channel: arm') await setPlan(ada, 'basic')
    return effect()
  }
  await expect(start(ada)).rejects.toThrow()
  expect(await runsOf(world, ada.user.id)).toEqual([])
})

test("someone else's image can be neither started nor removed, and its name is free", async () => {
  await freshPlaces(world, 1)
  const [ada, eve] = [await newCustomer(world, { premium: true }), await newCustomer(world, { premium: true })]
  await add(ada)
  await expect(start(eve)).rejects.toMatchObject({ code: 'not_offered' })
  await expect(removeOwnEnvironment(world.process.ctx, eve, 'Harbor')).rejects.toMatchObject({
    code: 'not_found',
  })
  await add(eve, 'Harbor', 'ghcr.io/eve/harbor:2')
  expect(await own(ada)).toMatchObject([{ image: IMAGE }])
})

test("takes no name of the catalog, in any letters, and doesn't remove the catalog's", async () => {
  const ada = await newCustomer(world, { premium: true })
  for (const name of ['Mountains', 'MOUNTAINS'])
    await expect(add(ada, name)).rejects.toMatchObject({ code: 'conflict', message: NAME_TAKEN, field: 'name' })
  await expect(removeOwnEnvironment(world.process.ctx, ada, 'Mountains')).rejects.toMatchObject({
    code: 'not_found',
  })
  await add(ada, 'Valley')
  await expect(add(ada, 'valley')).rejects.toMatchObject({ code: 'conflict', message: NAME_TAKEN })
})

test('ten at most, also when they arrive at once', async () => {
  const ada = await newCustomer(world, { premium: true })
  for (let i = 1; i < MAX_OWN_ENVIRONMENTS; i++) await add(ada, `World-${i}`)
  const results = await Promise.allSettled(['A', 'B', 'C'].map((name) => add(ada, name)))
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
  expect(await world.db.$count(environments, eq(environments.userId, ada.user.id))).toBe(MAX_OWN_ENVIRONMENTS)
  await expect(add(ada, 'D')).rejects.toMatchObject({ code: 'conflict', message: TOO_MANY_ENVIRONMENTS })
  await removeOwnEnvironment(world.process.ctx, ada, 'World-1')
  await add(ada, 'D')
})

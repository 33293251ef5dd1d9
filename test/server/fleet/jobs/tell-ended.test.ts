import { asc, eq } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { users } from '../../../../db/schema/accounts.ts'
import { runs } from '../../../../db/schema/fleet.ts'
import { notices, outbox } from '../../../../db/schema/mail.ts'
import { NO_WISHES } from '../../../../src/domain/run-wishes.ts'
import { setBudget } from '../../../../src/server/billing/bills/budget.ts'
import { mailUsedHours } from '../../../../src/server/billing/bills/hours-mails.ts'
import { startRun } from '../../../../src/server/fleet/start-run.ts'
import { memoryDatabase } from '../../../../testing/stack/memory-database.ts'
import { type Customer, freshPlaces, latestRun, newCustomer } from '../../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, settle } from '../../../../testing/world/play.ts'
import { openWorld } from '../../../../testing/world/world.ts'

const world = await openWorld(memoryDatabase())
afterEach(() => void world.takeLines())

const mailed = async ({ user }: Customer) =>
  world.db.select().from(outbox).where(eq(outbox.recipient, user.email)).orderBy(asc(outbox.createdAt))
const subjects = async (one: Customer) => (await mailed(one)).map(({ subject }) => subject)
const heard = async ({ user }: Customer) =>
  world.db.select().from(notices).where(eq(notices.userId, user.id)).orderBy(asc(notices.at))

async function newOne(account?: Parameters<typeof newCustomer>[1]) {
  await freshPlaces(world, 1)
  return newCustomer(world, account)
}

async function forAnHour(one: Customer) {
  await startRun(world.process.ctx, one, null, null, { ...NO_WISHES, stopAfterMs: 3_600_000 })
  await finishJobs(world, one)
  return latestRun(world, one.user.id)
}

test('an end that was not their doing is mailed once, in the words of its notice, and can be switched off', async () => {
  const ada = await newOne()
  const { id } = await forAnHour(ada)
  await settle(world, ada)
  expect(await subjects(ada)).toEqual(['Your server stops in 10 minutes', 'Your server stopped as scheduled'])
  const [mail, notice] = [(await mailed(ada))[1], (await heard(ada))[1]]
  expect(notice).toMatchObject({ kind: 'ended', title: mail?.subject, link: `/servers/${id}` })
  expect(world.mails.at(-1)).toMatchObject({
    to: ada.user.email,
    subject: mail?.subject,
    text: expect.stringContaining(
      `${notice?.text}\n\nSee the server and its receipt:\nhttp://site.test/servers/${id}\n`,
    ),
    offUrl: expect.stringContaining('kind=ended'),
  })

  const bea = await newOne()
  await world.db
    .update(users)
    .set({ mutedMails: ['ended'] })
    .where(eq(users.id, bea.user.id))
  await forAnHour(bea)
  await settle(world, bea)
  expect(await subjects(bea)).toEqual(['Your server stops in 10 minutes'])
  expect((await heard(bea)).map(({ title }) => title)).toContain('Your server stopped as scheduled')
})

test('a stop of their own is not mailed, and neither is a start that they canceled', async () => {
  const ada = await newOne()
  await running(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  await pressStart(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  expect([(await heard(ada)).length, await subjects(ada)]).toEqual([2, []])
})

test('a server that is gone at EC2 is mailed, with what it cost until then', async () => {
  const ada = await newOne()
  const { instanceId } = await running(world, ada)
  world.advance(60)
  world.ec2.inject('terminate_instance', 1, { instance_id: instanceId ?? '' })
  for (let i = 0; i < 20 && (await latestRun(world, ada.user.id)).endedAt === null; i++) {
    await world.watch()
    await world.process.settle()
    await settle(world, ada)
  }
  expect(await subjects(ada)).toEqual(['Your server stopped unexpectedly'])
  expect((await mailed(ada))[0]?.sentAt).not.toBeNull()
})

test('a machine that is lost before it answers is a server that never started', async () => {
  const ada = await newOne()
  world.answerMs = Number.POSITIVE_INFINITY
  await pressStart(world, ada)
  await world.ring(ada.user.id)
  world.advance(5)
  await world.ring(ada.user.id)
  expect(await latestRun(world, ada.user.id)).toMatchObject({ runningAt: expect.any(Number), billedFrom: null })
  world.ec2.inject('terminate_instance', 1, { instance_id: (await latestRun(world, ada.user.id)).instanceId ?? '' })
  await world.watch()
  await world.process.settle()
  await settle(world, ada)
  world.answerMs = 0
  expect(await subjects(ada)).toEqual(["Your server didn't start"])
  expect((await heard(ada)).map(({ title }) => title)).toEqual(["Your server didn't start"])
  expect((await latestRun(world, ada.user.id)).errorMessage).toBe(
    "Your server didn't start: its machine stopped before it was ready.",
  )
})

test('a start that fails is mailed, unless there was no server: they see that at once, and in line they keep their turn', async () => {
  const ada = await newOne()
  world.ec2.inject('UnauthorizedOperation', 9, { action: 'RunInstances' })
  await pressStart(world, ada)
  await settle(world, ada)
  expect(await subjects(ada)).toEqual(["Your server didn't start"])
  world.ec2.heal()

  const bea = await newOne()
  world.ec2.inject('InsufficientInstanceCapacity', 9, { action: 'RunInstances' })
  await pressStart(world, bea)
  await settle(world, bea)
  world.ec2.heal()
  expect([(await heard(bea)).map(({ readAt }) => readAt), await subjects(bea)]).toEqual([[null], []])
})

test('the end of a trial is mailed once', async () => {
  const ada = await newOne({ demo: true })
  await pressStart(world, ada)
  await settle(world, ada)
  expect(await subjects(ada)).toEqual(['5 free minutes left', 'Your free trial is over'])
})

test.each([
  { muted: [], told: ['Your budget of $1.00 is used up'] },
  { muted: ['budget' as const], told: ['Your budget stopped your server'] },
])('an end by a budget is one email: $told', async ({ muted, told }) => {
  const ada = await newOne({ secondsUsed: 5 * 3_600 })
  const { id } = await running(world, ada)
  await world.db.update(users).set({ mutedMails: muted }).where(eq(users.id, ada.user.id))
  await setBudget(world.process.ctx, ada.user.id, { dollars: 1, stops: true })
  world.advance(2 * 3_600)
  await mailUsedHours(world.process.ctx)
  await settle(world, ada)
  expect((await world.db.select().from(runs).where(eq(runs.id, id)))[0]?.budgetCents).toBe(100)
  const aboutHours = 'Your included hours are used up'
  expect((await subjects(ada)).filter((subject) => subject !== aboutHours)).toEqual(told)
  expect((await heard(ada)).map(({ title }) => title).filter((title) => title !== aboutHours)).toEqual([
    'Your budget of $1.00 is used up',
    'Your budget stopped your server',
  ])
})

test('a closed account is not mailed', async () => {
  const ada = await newOne()
  await forAnHour(ada)
  await world.db.update(users).set({ closedAt: world.clock.ms }).where(eq(users.id, ada.user.id))
  await settle(world, ada)
  expect(await subjects(ada)).toEqual([])
})

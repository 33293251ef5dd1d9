import { eq } from 'drizzle-orm'
import { afterEach, expect, test } from 'vitest'
import { users } from '../../../db/schema/accounts.ts'
import { notices, outbox } from '../../../db/schema/mail.ts'
import type { MailKind } from '../../../src/domain/notice.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { newId } from '../../../src/server/crypto/id.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { serverEndingMail } from '../../../src/server/mail/ending-letters.ts'
import { budgetReachedMail } from '../../../src/server/mail/money-letters.ts'
import { noticeQuery, tellQueries } from '../../../src/server/mail/notices.ts'
import { suspendedMail } from '../../../src/server/mail/overdue-letters.ts'
import { accountContext } from '../../../testing/people/account-app.ts'
import { memoryDatabase } from '../../../testing/stack/memory-database.ts'
import { freshPlaces, latestRun, newCustomer } from '../../../testing/world/fleet.ts'
import { finishJobs, pressStart, pressStop, running, settle } from '../../../testing/world/play.ts'
import { openWorld } from '../../../testing/world/world.ts'

const { ctx, clock } = accountContext()
const ORIGIN = ctx.config.origins[0] ?? ''

async function newUser(muted: MailKind[] = [], closedAt: number | null = null) {
  const id = newId('user')
  const email = `${id}@example.com`
  await ctx.db
    .insert(users)
    .values({ id, email, name: 'Ada', passwordHash: 'x', createdAt: 1, mutedMails: muted, closedAt })
  const tell = async (
    ...[message, when, cause]: Parameters<typeof tellQueries> extends [unknown, unknown, ...infer R] ? R : never
  ) => {
    for (const query of tellQueries(ctx, { id, email }, message, when, cause)) await query
  }
  const heard = () => ctx.db.select().from(notices).where(eq(notices.userId, id))
  const mailed = () => ctx.db.select().from(outbox).where(eq(outbox.recipient, email))
  return { id, tell, heard, mailed }
}

const budget = budgetReachedMail(ORIGIN, { cents: 500, chargedCents: 500, stops: false, from: 0, until: 1 })
const owed = suspendedMail({
  cents: 1,
  periodStart: 0,
  periodEnd: 1,
  dueAt: 0,
  payUrl: 'https://pay.example/1',
  processing: false,
})

test('a notice and an email say the same: subject, first sentence, and first link', async () => {
  const { tell, heard, mailed } = await newUser()
  await tell(budget)
  const [[notice], [mail]] = [await heard(), await mailed()]
  expect(notice).toMatchObject({
    kind: 'budget',
    link: '/settings/billing#budget',
    label: 'Change your budget',
    readAt: null,
    at: clock.ms,
  })
  expect(mail?.subject).toBe(notice?.title)
  expect(mail?.text.startsWith(`${notice?.text}\n`)).toBe(true)
  expect(mail?.text).toContain(`${notice?.label}:\n${ORIGIN}${notice?.link}\n`)
  await tell(owed)
  expect((await heard()).at(-1)).toMatchObject({ kind: 'owed', link: 'https://pay.example/1' })
})

test('one cause tells once; an email switched off is not made up for later', async () => {
  const { id, tell, heard, mailed } = await newUser(['budget'])
  await tell(budget, undefined, 'once')
  expect([(await heard()).length, (await mailed()).length]).toEqual([1, 0])
  await ctx.db.update(users).set({ mutedMails: [] }).where(eq(users.id, id))
  await tell(budget, undefined, 'once')
  expect([(await heard()).length, (await mailed()).length]).toEqual([1, 0])
  await tell(budget, undefined, 'another')
  await tell(budget, undefined, 'another')
  expect([(await heard()).length, (await mailed()).length]).toEqual([2, 1])
})

test('only emails that may be switched off carry the link for it; owed money always comes', async () => {
  const { tell, mailed } = await newUser(['budget', 'ending', 'owed' as MailKind])
  await tell(owed)
  await tell(budget)
  const [mail, ...others] = await mailed()
  expect([mail?.offUrl, mail?.text.includes('Turn off'), others]).toEqual([null, false, []])
  const other = await newUser()
  await other.tell(
    serverEndingMail(`${ORIGIN}/x`, { end: 1, minutes: 1, adds: 'an hour', filesStay: true, why: 'you' }),
  )
  const [sent] = await other.mailed()
  expect(sent?.offUrl).toMatch(/^http:\/\/localhost:8787\/mails\/off\?of=user_[^&]+&kind=ending&key=[\w-]{43}$/)
  expect(sent?.text).toContain(`Turn off emails like this one:\n${sent?.offUrl}\n`)
  expect(sent?.html).toContain(`href="${sent?.offUrl?.replaceAll('&', '&amp;')}"`)
})

test('a closed account hears nothing', async () => {
  const { id, heard } = await newUser([], 1)
  await noticeQuery(ctx, id, budget)
  expect(await heard()).toEqual([])
})

const world = await openWorld(memoryDatabase())
afterEach(() => void world.takeLines())
const heardBy = async (userId: string) =>
  (await world.db.select().from(notices).where(eq(notices.userId, userId)).orderBy(notices.at)).map(
    ({ title, kind, link, readAt }) => [kind, title, link, readAt !== null],
  )

test('every end of a run leaves one notice with its receipt; one that they chose themselves is no news', async () => {
  await freshPlaces(world, 3)
  const [ada, bea, cem] = [await newCustomer(world), await newCustomer(world), await newCustomer(world, { demo: true })]
  const run = await running(world, ada)
  await pressStop(world, ada)
  await settle(world, ada)
  expect(await heardBy(ada.user.id)).toEqual([['ended', 'You stopped your server', `/servers/${run.id}`, true]])
  const [notice] = await world.db.select().from(notices).where(eq(notices.userId, ada.user.id))
  expect(notice?.text).toMatch(/^Server stopped\. You used .* was free\.$/)

  await startRun(world.process.ctx, bea, null, null, { ...NO_WISHES, stopAfterMs: 3_600_000 })
  await finishJobs(world, bea)
  const { id, endsAt } = await latestRun(world, bea.user.id)
  await settle(world, bea)
  expect(await heardBy(bea.user.id)).toEqual([
    ['ending', 'Your server stops in 10 minutes', `/servers/${id}`, false],
    ['ended', 'Your server stopped as scheduled', `/servers/${id}`, false],
  ])
  expect(endsAt).not.toBeNull()

  await pressStart(world, cem)
  await settle(world, cem)
  // The email about the trial's end is the notice of the run's end.
  expect((await heardBy(cem.user.id)).map(([kind, title]) => [kind, title])).toEqual([
    ['ending', '5 free minutes left'],
    ['ended', 'Your free trial is over'],
  ])
})

test('a start that fails leaves a notice that says why', async () => {
  await freshPlaces(world, 1)
  const ada = await newCustomer(world)
  world.ec2.inject('InsufficientInstanceCapacity', 9, { action: 'RunInstances' })
  await pressStart(world, ada)
  await settle(world, ada)
  const [[, title] = []] = await heardBy(ada.user.id)
  expect(title).toBe("Your server didn't start")
  world.ec2.heal()
})

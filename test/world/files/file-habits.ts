import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { changePlan } from '../../../src/server/billing/plans/change-plan.ts'
import type { Random } from '../../../testing/random.ts'
import { at, does, type Habit, stops } from '../habits/habit.ts'
import type { Person } from '../people.ts'
import type { World } from '../world.ts'
import { change, newSize, PATHS, upload } from './page-acts.ts'

/** Closing signs people out. */
const ofOpenAccounts =
  (habit: Habit): Habit =>
  async (world, random, person, people) => {
    const { users } = await world.database.read()
    if (users.some(({ id, closedAt }) => id === person.user.id && closedAt === null))
      await habit(world, random, person, people)
  }

/** Starts a server, after buying a plan if there is none, and waits until its files are there. */
async function startAServer(world: World, random: Random, person: Person): Promise<void> {
  if (await person.live()) return
  const { plans } = await world.database.read()
  if (!plans.some(({ userId, endedAt }) => userId === person.user.id && endedAt === null) && random.chance(0.8)) {
    await does(world, person, 'checkout', () => person.openCheckout('basic'))
    await does(world, person, 'pay', () => person.pay(random, false))
    await world.advance(MINUTE_MS)
  }
  await does(world, person, 'start', () => person.start())
  await world.advance(MINUTE_MS)
}

/** @returns whether their simulator could write at all */
function write(world: World, random: Random, person: Person, files = random.between(1, 4)): boolean {
  const machine = world.files?.of(person.user.id)
  if (!machine?.mayWrite()) return false
  for (let n = 0; n < files; n++) {
    world.note('content')
    machine.write(random.pick(PATHS), random.chance(0.1) ? null : newSize(world, random.between(1, 90)))
  }
  return true
}

/** Records, stops at once or much later, and starts again. */
export const record = ofOpenAccounts(async (world, random, person) => {
  await startAServer(world, random, person)
  for (let times = random.between(1, 4); times > 0; times--) {
    write(world, random, person)
    await world.advance(random.pick([0, 1_500, 5_000, 4 * MINUTE_MS, 14 * MINUTE_MS]))
  }
  write(world, random, person)
  const alarms = random.chance(0.3) ? await world.untilNext(20_000) : []
  await world.together([...alarms, stops(person)])
  await world.watch()
  await world.advance(3 * MINUTE_MS)
  if (random.chance(0.7)) await startAServer(world, random, person)
})

/** EC2 loses the machine while it writes. */
export const loseTheMachine = ofOpenAccounts(async (world, random, person) => {
  await startAServer(world, random, person)
  write(world, random, person)
  await world.advance(random.between(0, 5_000))
  const machine = world.files?.of(person.user.id)
  if (machine && world.ec2.vanished.size < 2) {
    world.ec2.vanish(machine.instanceId)
    world.note('machine lost with its files')
  }
  await world.advance(10 * MINUTE_MS)
  if (random.chance(0.7)) await startAServer(world, random, person)
})

/** Uploads, and deletes files and folders, often while a server writes. */
export const changeOnThePage = ofOpenAccounts(async (world, random, person) => {
  if (random.chance(0.6)) await startAServer(world, random, person)
  for (let times = random.between(2, 6); times > 0; times--) {
    const act = await change(world, random, person)
    const other = await change(world, random, person)
    if (random.chance(0.5)) write(world, random, person)
    const machines = random.chance(0.5) ? await world.untilNext(4_000) : []
    await world.together([act, ...(random.chance(0.2) ? [other] : []), ...machines])
    await world.watch()
    await world.advance(random.pick([0, 3_000, MINUTE_MS, 11 * MINUTE_MS, 2 * HOUR_MS]))
  }
})

/** Fills their files, and starts a server beside them. */
export const fillUp = ofOpenAccounts(async (world, random, person) => {
  for (let n = 0; n < 2; n++) {
    const megabytes = random.pick([600, 950, 1_100, 4_900])
    await does(world, person, 'uploads', () => upload(world, person, `big/${n}.bin`, megabytes))
    await world.advance(random.between(0, MINUTE_MS))
  }
  await startAServer(world, random, person)
  write(world, random, person, 6)
  await world.advance(random.between(0, 20 * MINUTE_MS))
})

/** Someone has read what a machine proves itself with, and uses it elsewhere or after its run. */
export const stealTheProof = ofOpenAccounts(async (world, random, person, people) => {
  await startAServer(world, random, person)
  const machine = world.files?.of(person.user.id)
  if (!machine) return
  if (random.chance(0.5)) {
    await does(world, person, 'stop', () => person.stop())
    await world.advance(6 * MINUTE_MS)
  }
  const run = (await world.database.read()).runs.find(({ id }) => id === machine.instance.tags.session)
  const thief = random.pick(people)
  const elsewhere = random.pick([null, '203.0.113.9', '127.240.0.1'])
  const address = run?.endedAt == null ? elsewhere : (run.ipAddress ?? elsewhere)
  // Before we have seen it run, nothing of a customer's runs there.
  if (!run || run.ipAddress === null || (run.endedAt === null && address === run.ipAddress)) return
  world.note('proof stolen')
  await does(world, thief, 'steals', async () => {
    if (await machine.isStolenFrom(address))
      world.files?.contradict('files-are-their-owners', `${address} got the files of ${machine.instanceId}`)
  })
})

/** Their plan ends, and they come back, or not before everything is deleted. */
export const letThePlanEnd = ofOpenAccounts(async (world, random, person) => {
  await startAServer(world, random, person)
  write(world, random, person)
  await world.advance(MINUTE_MS)
  const plan = person.subscription()
  if (!plan) return
  world.stripe.cancelNow(plan.id)
  world.note('plan of files ended')
  await world.advance(2 * HOUR_MS)
  for (let weeks = random.between(2, 7); weeks > 0; weeks--) await world.advance(7 * DAY_MS)
  await startAServer(world, random, person)
})

/** Has the larger plan for an hour, keeps more than the smaller one includes, and goes back. */
export const keepWhatPremiumHeld = ofOpenAccounts(async (world, random, person) => {
  await startAServer(world, random, person)
  const to = (planType: string) => changePlan(world.ctx, person.user, { planType, quotedAt: null })
  await does(world, person, 'upgrade', () => person.decides('upgrade', () => to('premium')))
  for (let n = 0; n < 3; n++)
    await does(world, person, 'uploads', () => upload(world, person, `huge/${n}.bin`, random.pick([900, 4_500])))
  await world.advance(random.between(MINUTE_MS, HOUR_MS))
  await does(world, person, 'downgrade', () => person.decides('downgrade', () => to('basic')))
  for (let weeks = 6; weeks > 0; weeks--) {
    await world.advance(7 * DAY_MS)
    // Its end comes, so that it costs no hours.
    await does(world, person, 'stop', () => person.stop())
  }
})

/** Writes more than Basic includes, and pays each month so late that the plan is paid for four days. */
export const payLateWithTooMuch = ofOpenAccounts(async (world, random, person) => {
  await startAServer(world, random, person)
  const end = () => (person.subscription()?.items.data[0]?.current_period_end ?? 0) * 1000
  await does(world, person, 'stop', () => person.stop())
  await at(world, end() - 4 * DAY_MS)
  await startAServer(world, random, person)
  const machine = world.files?.of(person.user.id)
  if (!machine?.mayWrite()) return
  for (const path of PATHS.slice(0, 3)) {
    world.note('content')
    machine.write(path, newSize(world, 4_500))
  }
  await world.advance(MINUTE_MS)
  await does(world, person, 'stop', () => person.stop())
  for (let months = 3; months > 0; months--) {
    const plan = person.subscription()
    if (!plan) return
    world.stripe.setCard(plan.id, 'declined_later')
    await at(world, end() + DAY_MS)
    await at(world, end() - 4 * DAY_MS)
    await does(world, person, 'pay', () => person.payPlan())
    world.note('too much stored, and paid late')
    for (let days = 3; days > 0; days--) await world.advance(DAY_MS)
  }
})

/** Closes the account while a server writes. */
export const closeWithFiles = ofOpenAccounts(async (world, random, person) => {
  // Everyone has only one account.
  if (random.chance(0.5)) return
  await startAServer(world, random, person)
  write(world, random, person)
  const isSlow = random.chance(0.5)
  // Its machine outlives the first deletion.
  if (isSlow) world.ec2.inject('UnauthorizedOperation', 40, { action: 'TerminateInstances' })
  await does(world, person, 'close', () => person.close())
  for (let minutes = 0; minutes < 3; minutes++) {
    write(world, random, person)
    await world.advance(4 * MINUTE_MS)
  }
  if (isSlow) world.ec2.heal()
  await world.advance(4 * HOUR_MS)
})

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import { correctBill } from '../../src/server/billing/bills/corrections.ts'
import { grantPlan } from '../../src/server/billing/plans/grants.ts'
import type { Random } from '../../testing/random.ts'
import type { Person } from './people.ts'
import { repeatCalls } from './repeated-calls.ts'
import type { World } from './world.ts'

type Habit = (world: World, random: Random, person: Person, people: Person[]) => Promise<void>

/** Rare states need several deeds in a row, which single steps almost never produce. */
export async function habit(world: World, random: Random, person: Person, people: Person[]): Promise<void> {
  await random.pick([
    reopenDaily,
    startOften,
    stopAtAnAlarm,
    refuseWhatRuns,
    loseAtTheEnd,
    spreadTrial,
    leavePlanUnpaid,
    leaveBillUnpaid,
    missAllServers,
    repeatCalls,
    payAfterClosing,
  ])?.(world, random, person, people)
}

const at = (world: World, moment: number) => world.advance(Math.max(0, moment - world.clock.ms))

function does(world: World, person: Person, name: string, run: () => unknown): Promise<void> {
  return world.together([{ name: `${person.user.name} ${name}`, run: async () => run() }])
}

/** Opens another checkout page again and again while a cycle ends. */
const reopenDaily: Habit = async (world, random, person) => {
  const { users } = await world.database.read()
  const due = users.find(({ id }) => id === person.user.id)?.billingDueAt ?? 0
  if (due > world.clock.ms + 45 * DAY_MS) return
  world.note('checkout reopened for days')
  await at(world, due - random.between(MINUTE_MS, 2 * HOUR_MS))
  for (let n = 0; n < 5; n++) {
    await does(world, person, 'checkout', () => person.openCheckout(n % 2 ? 'basic' : 'premium'))
    await world.advance(13 * HOUR_MS)
  }
}

/** Starts and cancels, again and again. */
const startOften: Habit = async (world, _random, person) => {
  for (let n = 0; n < 12; n++) {
    await does(world, person, 'start', () => person.start())
    await world.advance(3_000)
    await does(world, person, 'stop', () => person.stop())
    await world.advance(15_000)
  }
}

/** Stops a start at any of its steps, just as its alarm rings. */
const stopAtAnAlarm: Habit = async (world, random, person) => {
  if (random.chance(0.6))
    world.ec2.inject(random.pick(['InsufficientInstanceCapacity', 'VcpuLimitExceeded', 'RequestLimitExceeded']), 5)
  if (random.chance(0.3)) world.ec2.conditions.hiddenMs = 30_000
  await does(world, person, 'start', () => person.start())
  for (let n = 0; n < 8; n++) {
    const stop = { name: `${person.user.name} stop`, run: () => person.stop() }
    const alarms = await world.untilNext(40_000)
    await world.together(random.chance(0.25) ? [stop, ...alarms] : alarms)
  }
  await does(world, person, 'start', () => person.start())
  await world.advance(5_000)
}

/** EC2 carries a launch out without showing it, and refuses when it is asked again. */
const refuseWhatRuns: Habit = async (world, random, person) => {
  await does(world, person, 'stop', () => person.stop())
  await world.advance(MINUTE_MS)
  world.ec2.heal()
  world.ec2.conditions.hiddenMs = 60_000
  world.ec2.inject('lost_response', random.between(1, 3), { action: 'RunInstances' })
  world.ec2.inject('UnauthorizedOperation', 1, { action: 'RunInstances' })
  await does(world, person, 'start', () => person.start())
  for (let n = 0; n < 6; n++) await world.together(await world.untilNext(40_000))
}

/** A server vanishes just before a cycle ends, while EC2 answers nobody. */
const loseAtTheEnd: Habit = async (world, random, person) => {
  const { users } = await world.database.read()
  const due = users.find(({ id }) => id === person.user.id)?.billingDueAt ?? 0
  if (due > world.clock.ms + 45 * DAY_MS) return
  await at(world, due - 20 * MINUTE_MS)
  if ((await person.live()) === null) await does(world, person, 'start', () => person.start())
  await world.advance(4 * MINUTE_MS)
  await world.advance(due - 2.5 * MINUTE_MS - world.clock.ms)
  const run = await person.live()
  const instance = world.ec2.running().find(({ id }) => id === run?.instanceId)
  if (!instance) return
  world.ec2.inject('RequestLimitExceeded', 200)
  world.ec2.vanish(instance.id)
  if (random.chance(0.5)) await does(world, person, 'stop', () => person.stop())
  await world.advance(5 * MINUTE_MS)
  await world.advance(5 * MINUTE_MS)
  world.ec2.heal()
}

/** Uses a trial twice, more than a month apart. */
const spreadTrial: Habit = async (world, _random, person) => {
  for (const wait of [33 * DAY_MS, DAY_MS]) {
    await does(world, person, 'start', () => person.start())
    await world.advance(MINUTE_MS)
    await world.advance(20 * MINUTE_MS)
    await does(world, person, 'stop', () => person.stop())
    await world.advance(MINUTE_MS)
    await world.advance(wait)
  }
}

/** Buys a plan with a card that fails at its renewal, and then pays for it, for another one, for both or for none. */
const leavePlanUnpaid: Habit = async (world, random, person) => {
  await does(world, person, 'start', () => person.start())
  await world.advance(2 * MINUTE_MS)
  await does(world, person, 'checkout', () => person.openCheckout('basic'))
  await does(world, person, 'pay', () => person.pay(random, true))
  if (random.chance(0.2)) {
    person.hasUnusualPlan = true
    const hand = { db: world.ctx.db, now: world.ctx.now }
    await does(world, person, 'is granted a plan', () =>
      grantPlan(hand, person.user.email, { type: 'basic', hours: 5 }),
    )
  }
  await world.advance(MINUTE_MS)
  await world.advance(random.between(MINUTE_MS, HOUR_MS))
  const { plans } = await world.database.read()
  const plan = plans.find(
    ({ userId, endedAt, stripeSubscriptionId }) =>
      userId === person.user.id && endedAt === null && stripeSubscriptionId,
  )
  if (!plan) return
  await at(world, plan.anchor + random.between(31, 33) * DAY_MS)
  await does(world, person, 'start', () => person.start())
  if (random.chance(0.6)) await does(world, person, 'checkout', () => person.openCheckout('premium'))
  const payments = [() => person.payPlan(), () => person.pay(random, false)].filter(() => random.chance(0.7))
  for (const pay of random.chance(0.5) ? payments : payments.reverse()) {
    await does(world, person, 'pay', pay)
    if (random.chance(0.5)) await world.advance(random.between(1_000, 40 * DAY_MS))
  }
  if (random.chance(0.3)) await does(world, person, 'cancel', () => person.cancel())
}

/** Leaves a server running and its bill unpaid, until someone has to stop it. */
const leaveBillUnpaid: Habit = async (world, random, _person, people) => {
  const { plans, users } = await world.database.read()
  const open = new Set(users.flatMap(({ id, closedAt }) => (closedAt === null ? [id] : [])))
  const debtor = people.find(
    ({ user }) =>
      open.has(user.id) &&
      !plans.some((plan) => plan.userId === user.id && plan.endedAt === null && plan.subType === 'demo'),
  )
  if (!debtor) return
  const mine = async () => {
    const { users, invoices, bills } = await world.database.read()
    const due = invoices.find(({ userId, dueAt, status }) => userId === debtor.user.id && dueAt && status === 'open')
    return {
      user: users.find(({ id }) => id === debtor.user.id),
      due,
      bill: bills.find(({ id }) => id === due?.billId),
    }
  }
  if ((await debtor.live()) === null) await does(world, debtor, 'start', () => debtor.start())
  await world.advance(4 * MINUTE_MS)
  await at(world, ((await mine()).user?.billingDueAt ?? 0) + HOUR_MS)
  await world.advance(HOUR_MS)
  const { bill } = await mine()
  if (bill && random.chance(0.5)) {
    const hand = { db: world.ctx.db, now: world.ctx.now }
    await does(world, debtor, 'has a bill corrected', () =>
      correctBill(hand, bill.id, { seconds: bill.seconds + 4_000, reason: 'Support' }),
    )
    await world.advance(HOUR_MS)
  }
  await at(world, ((await mine()).due?.dueAt ?? 0) + HOUR_MS)
  for (const wait of [DAY_MS, DAY_MS + HOUR_MS, DAY_MS + HOUR_MS, DAY_MS]) {
    if (random.chance(0.2)) await does(world, debtor, 'pay bill', () => debtor.payBill(random))
    if (random.chance(0.05)) await does(world, debtor, 'close', () => debtor.close())
    await world.advance(wait)
  }
}

/** Opens a checkout page, closes the account, and pays on the page anyway. */
const payAfterClosing: Habit = async (world, random, person) => {
  await does(world, person, 'checkout', () => person.openCheckout('basic'))
  await does(world, person, 'close', () => person.close())
  const { users } = await world.database.read()
  person.closedAt = users.find(({ id }) => id === person.user.id)?.closedAt ?? null
  await does(world, person, 'pay', () => person.pay(random, false))
}

/** Everyone has a server, and then the region or the account that we ask is the wrong one. */
const missAllServers: Habit = async (world, random, _person, people) => {
  await world.together(people.map((one) => ({ name: `${one.user.name} start`, run: () => one.start() })))
  await world.advance(MINUTE_MS)
  world.ec2.conditions.wrongRegion = true
  world.note('wrong region')
  await world.advance(random.between(2 * MINUTE_MS, 4 * MINUTE_MS))
}

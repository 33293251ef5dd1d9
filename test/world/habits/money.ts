import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { setCharging } from '../../../src/server/billing/bills/charge-consent.ts'
import { correctBill } from '../../../src/server/billing/bills/corrections.ts'
import { grantPlan } from '../../../src/server/billing/plans/grants.ts'
import type { Person } from '../people.ts'
import type { World } from '../world.ts'
import { at, does, type Habit } from './habit.ts'

/** Opens another checkout page again and again while a cycle ends. */
export const reopenDaily: Habit = async (world, random, person) => {
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

/** Uses a trial twice, more than a month apart. */
export const spreadTrial: Habit = async (world, _random, person) => {
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
export const leavePlanUnpaid: Habit = async (world, random, person) => {
  await does(world, person, 'start', () => person.start())
  await world.advance(2 * MINUTE_MS)
  await does(world, person, 'checkout', () => person.openCheckout('basic'))
  await does(world, person, 'pay', () => person.pay(random, true))
  if (random.chance(0.2)) {
    person.hasUnusualPlan = true
    await does(world, person, 'is granted a plan', () =>
      grantPlan(world.ctx, person.user.email, { type: 'basic', hours: 5 }),
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
  if (random.chance(0.6)) await does(world, person, 'stop', () => person.stop())
  await at(world, plan.anchor + random.between(31, 33) * DAY_MS)
  for (let n = 0; n < 2; n++) {
    await does(world, person, 'start', () => person.start())
    await world.advance(3 * MINUTE_MS)
  }
  if (random.chance(0.6)) await does(world, person, 'checkout', () => person.openCheckout('premium'))
  const payments = [() => person.payPlan(), () => person.pay(random, false)].filter(() => random.chance(0.8))
  for (const pay of random.chance(0.5) ? payments : payments.reverse()) {
    await does(world, person, 'pay', pay)
    if (random.chance(0.5)) await world.advance(random.between(1_000, 40 * DAY_MS))
  }
  if (random.chance(0.3)) await does(world, person, 'cancel', () => person.cancel())
}

/** Leaves a server running and its bill unpaid, until someone has to stop it. */
export const leaveBillUnpaid: Habit = async (world, random, _person, people) => {
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
  // A random choice would change every seed.
  const answer = world.clock.ms % 4
  if (answer > 1)
    await does(world, debtor, 'answers about charges', async () => {
      await setCharging(world.ctx, debtor.user.id, { on: answer === 2 })
    })
  await world.advance(HOUR_MS)
  const { bill } = await mine()
  if (bill && random.chance(0.6)) {
    const seconds = random.chance(0.4) ? bill.seconds + 4_000 : Math.floor(bill.seconds / 2)
    await does(world, debtor, 'has a bill corrected', () =>
      correctBill(world.ctx, bill.id, { seconds, reason: 'Support' }),
    )
    // Stripe's answer gets lost, and its key is forgotten before we ask again.
    if (random.chance(0.5)) world.stripe.inject('lost_response', random.between(1, 3), random.between(0, 3))
    await world.advance(MINUTE_MS)
    await world.advance(MINUTE_MS * random.between(5, 30))
    world.stripe.forgetKeys()
    await world.advance(2 * HOUR_MS)
  }
  await at(world, ((await mine()).due?.dueAt ?? 0) + HOUR_MS)
  for (const wait of [DAY_MS, DAY_MS + HOUR_MS, DAY_MS + HOUR_MS, DAY_MS]) {
    if (random.chance(0.2)) await does(world, debtor, 'pay bill', () => debtor.payBill(random))
    if (random.chance(0.05)) await does(world, debtor, 'close', () => debtor.close())
    await world.advance(wait)
  }
}

/** Opens a checkout page, closes the account, and pays on the page anyway. */
export const payAfterClosing: Habit = async (world, random, person) => {
  await does(world, person, 'checkout', () => person.openCheckout('basic'))
  await does(world, person, 'close', () => person.close())
  const { users } = await world.database.read()
  person.closedAt = users.find(({ id }) => id === person.user.id)?.closedAt ?? null
  await does(world, person, 'pay', () => person.pay(random, false))
}

/** Buys a plan while a server runs, often in a trial, and stops it soon. */
export const buyWhileItRuns: Habit = async (world, random, person) => {
  world.ec2.heal()
  if ((await person.live()) === null) await does(world, person, 'start', () => person.start())
  await world.advance(2 * MINUTE_MS)
  await does(world, person, 'checkout', () => person.openCheckout(random.pick(['basic', 'premium'])))
  // Sometimes we don't hear of the plan before it is over. A random choice would change every seed.
  const isUnheard = world.clock.ms % 3 === 0
  world.stripe.conditions.losesWebhooks = isUnheard
  await does(world, person, 'pay', () => person.pay(random, random.chance(0.3)))
  if (isUnheard) await does(world, person, 'has the plan ended', () => endPlans(world, person))
  world.stripe.conditions.losesWebhooks = false
  await world.advance(3 * MINUTE_MS)
  await does(world, person, 'stop', () => person.stop())
  for (let n = 0; n < 3; n++) await world.advance(3 * HOUR_MS)
}

/** In Stripe's dashboard. */
function endPlans({ stripe }: World, { user }: Person): void {
  for (const { id, metadata, status } of stripe.subscriptions())
    if (metadata.user_id === user.id && status !== 'canceled') stripe.cancelNow(id)
}

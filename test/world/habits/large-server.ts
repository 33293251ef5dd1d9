import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { changePlan } from '../../../src/server/billing/plans/change-plan.ts'
import { keepPlan } from '../../../src/server/billing/plans/keep-plan.ts'
import { at, does, type Habit } from './habit.ts'

/** Buys Premium, starts a large server, makes the plan smaller, and lets it run past the period's end. Some keep the plan after all. */
export const outgrowThePlan: Habit = async (world, random, person) => {
  world.ec2.heal()
  const { user } = person
  if (!person.subscription()) {
    await does(world, person, 'checkout', () => person.openCheckout('premium'))
    await does(world, person, 'pay', () => person.pay(random, false))
    await world.advance(3 * MINUTE_MS)
  }
  if ((await person.live()) === null) await does(world, person, 'start', () => person.start())
  await world.advance(3 * MINUTE_MS)
  const smaller = {
    cancel: () => person.cancel(),
    downgrade: () =>
      person.decides('downgrade', () => changePlan(world.ctx, user, { planType: 'basic', quotedAt: null })),
  }
  const what = random.pick(['cancel', 'downgrade'] as const)
  await does(world, person, what, smaller[what])
  const { plans } = await world.database.read()
  const plan = plans.find(
    ({ userId, endedAt, subType }) => userId === user.id && endedAt === null && subType === 'paid',
  )
  const end = plan?.cancelAt ?? plan?.nextPlanAt
  if (end == null) return
  if (random.chance(0.7)) await world.advance(random.between(MINUTE_MS, HOUR_MS))
  await at(world, end - DAY_MS + MINUTE_MS)
  await world.advance(10 * MINUTE_MS)
  await at(world, end - 12 * MINUTE_MS)
  await world.advance(5 * MINUTE_MS)
  if (random.chance(0.3))
    await does(world, person, 'keep', () => person.decides('keep', () => keepPlan(world.ctx, user)))
  await at(world, end + random.between(0, 2 * MINUTE_MS))
  for (let n = 0; n < 3; n++) await world.advance(5 * MINUTE_MS)
  // In steps, so that triggers have their chance.
  for (let n = 0; n < 8; n++) await world.advance(8 * HOUR_MS)
}

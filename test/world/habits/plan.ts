import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { addMonths } from '../../../src/domain/money/billing.ts'
import { CONFIRM_UPGRADE } from '../../../src/domain/money/start-cost.ts'
import { changePlan, quoteChange } from '../../../src/server/billing/plans/change-plan.ts'
import { keepPlan } from '../../../src/server/billing/plans/keep-plan.ts'
import type { Random } from '../../../testing/random.ts'
import type { Person } from '../people.ts'
import type { World } from '../world.ts'
import { at, does, type Habit } from './habit.ts'

/** Buys a plan, and then changes it, changes their mind, clicks twice, and tries it with a card that is declined. */
export const changePlans: Habit = async (world, random, person) => {
  if (!(await currentPlan(world, person))) {
    await does(world, person, 'checkout', () => person.openCheckout(random.pick(['basic', 'basic', 'premium'])))
    await does(world, person, 'pay', () => person.pay(random, random.chance(0.15)))
    await world.advance(MINUTE_MS)
  }
  if (random.chance(0.6)) await does(world, person, 'start', () => person.start())
  // Most of the hours that Basic includes.
  if (random.chance(0.3)) await world.advance(random.between(4 * HOUR_MS, 5 * HOUR_MS))
  for (let times = random.between(2, 6); times > 0; times--) {
    await decide(world, random, person)
    await wait(world, random, person)
  }
  await does(world, person, 'stop', () => person.stop())
  await at(world, (await nextPeriod(world, person)) + random.between(1, HOUR_MS))
}

async function decide(world: World, random: Random, person: Person): Promise<void> {
  const plan = await currentPlan(world, person)
  const changes = plan?.planType === 'premium' ? 'downgrade' : 'upgrade'
  const isChanging = plan !== null && (plan.cancelAtPeriodEnd || plan.nextPlanType !== null)
  const what = random.pick([changes, changes, isChanging ? 'keep' : changes, isChanging ? 'keep' : 'cancel'] as const)
  const stripeId = plan?.stripeSubscriptionId
  const card = random.pick(['good', 'good', 'good', 'bank_asks', 'declined_later'] as const)
  if (what === 'upgrade' && stripeId) world.stripe.setCard(stripeId, card)
  const quoted = random.chance(0.5) ? await quote(world, random, person, what) : null
  const acts = {
    upgrade: () => person.decides('upgrade', () => upgrade(world, person, quoted)),
    downgrade: () =>
      person.decides('downgrade', async () => {
        await changePlan(world.ctx, person.user, { planType: 'basic', quotedAt: null })
        world.note('downgrade scheduled')
      }),
    keep: () =>
      person.decides('keep', async () => {
        await keepPlan(world.ctx, person.user)
        if (isChanging) world.note('plan kept after all')
      }),
    cancel: () => person.cancel(),
  }
  const one = { name: `${person.user.name} ${what}`, run: async () => acts[what]() }
  const isTwice = random.chance(0.3)
  await world.together(isTwice ? [one, one] : [one])
  if (what !== 'upgrade' || !stripeId) return
  if (card === 'bank_asks' && random.chance(0.7)) {
    await world.advance(random.between(1_000, 20 * HOUR_MS))
    await does(world, person, 'pay', () => person.payPlan())
  }
  if (card === 'declined_later' && random.chance(0.7)) world.stripe.setCard(stripeId, 'good')
}

type Quote = { at: number; cents: number | null }

/** The confirmation page, on which some rest for too long. */
async function quote(world: World, random: Random, person: Person, what: string): Promise<Quote | null> {
  if (what !== 'upgrade') return null
  let quoted: Quote | null = null
  await does(world, person, 'quote', async () => {
    const found = await quoteChange(world.ctx, person.user, 'premium')
    quoted = { at: found.quotedAt, cents: found.cents }
  })
  await world.advance(random.between(1_000, 11 * MINUTE_MS))
  return quoted
}

async function upgrade(world: World, person: Person, quote: Quote | null): Promise<void> {
  const plan = person.subscription()
  await changePlan(world.ctx, person.user, { planType: 'premium', quotedAt: quote?.at ?? null }).catch(
    (error: Error) => {
      if (error.message.includes('declined')) world.note('upgrade declined')
      if (error.message === CONFIRM_UPGRADE) world.note('upgrade waits for the bank')
      throw error
    },
  )
  world.note('plan upgraded')
  if (plan && quote?.cents != null)
    person.quotes.push({ subscription: plan.id, cents: quote.cents, at: world.clock.ms })
}

async function wait(world: World, random: Random, person: Person): Promise<void> {
  const { clock } = world
  const end = await nextPeriod(world, person)
  const moment = random.pick([
    clock.ms + random.between(1_000, 30_000),
    clock.ms + random.between(HOUR_MS, 12 * DAY_MS),
    end - random.between(1, 3 * MINUTE_MS),
    end + random.between(0, 3 * MINUTE_MS),
    end + random.between(HOUR_MS, 2 * DAY_MS),
  ])
  // Changes of plan and late renewals meet here.
  if (random.chance(0.2)) world.stripe.conditions.renewsLateBy = random.between(30, 900)
  await at(world, moment)
  const { id } = person.subscription() ?? {}
  if (id && world.stripe.isRenewalLate(id) && random.chance(0.3)) world.stripe.cancelNow(id)
}

async function nextPeriod(world: World, person: Person): Promise<number> {
  const { ms } = world.clock
  const plan = await currentPlan(world, person)
  return plan ? ([1, 2, 3, 4].map((n) => addMonths(plan.anchor, n)).find((at) => at > ms) ?? ms) : ms
}

async function currentPlan(world: World, { user }: Person) {
  const { plans } = await world.database.read()
  return plans.find((plan) => plan.userId === user.id && plan.endedAt === null && plan.stripeSubscriptionId) ?? null
}

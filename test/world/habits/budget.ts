import { HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { setBudget } from '../../../src/server/billing/bills/budget.ts'
import type { Random } from '../../../testing/random.ts'
import type { Person } from '../people.ts'
import type { World } from '../world.ts'
import { does, type Habit } from './habit.ts'

/** About as long as a dollar lasts. */
const DOLLAR_MS = 34 * MINUTE_MS

/** Sets a small budget while a server costs something, lets it run beyond, changes the budget, and starts again. */
export const useUpABudget: Habit = async (world, random, _person, people) => {
  const spender = await findSpender(world, people)
  if (!spender) return
  if (random.chance(0.7)) world.ec2.heal()
  if ((await spender.live()) === null) await does(world, spender, 'start', () => spender.start())
  await world.advance(2 * MINUTE_MS)
  for (let times = random.between(1, 4); times > 0; times--) {
    const dollars = random.chance(0.85) ? random.between(1, 4) : null
    await budget(world, random, spender, dollars)
    // Most of the time passes quickly, the moment itself does not.
    await world.advance((dollars ?? 1) * DOLLAR_MS - random.between(0, 6 * MINUTE_MS))
    for (let n = 0; n < 3; n++) await world.advance(4 * MINUTE_MS)
    if ((await spender.live()) === null) await does(world, spender, 'start', () => spender.start())
    await world.advance(2 * MINUTE_MS)
  }
  // Some let it run on.
  if (random.chance(0.5)) return
  await does(world, spender, 'stop', () => spender.stop())
  if (random.chance(0.5)) await world.advance(HOUR_MS)
  await does(world, spender, 'budget', () => setBudget(world.ctx, spender.user.id, { dollars: null, stops: false }))
}

/** Someone whose server time is neither free nor covered by a plan. */
async function findSpender(world: World, people: Person[]): Promise<Person | undefined> {
  const { users, plans } = await world.database.read()
  return people.find(
    ({ user }) =>
      users.some(({ id, closedAt, suspendedAt }) => id === user.id && closedAt === null && suspendedAt === null) &&
      !plans.some(({ userId, endedAt }) => userId === user.id && endedAt === null),
  )
}

async function budget(world: World, random: Random, person: Person, dollars: number | null): Promise<void> {
  const stops = random.chance(0.7)
  const one = {
    name: `${person.user.name} budget`,
    run: async () => {
      await setBudget(world.ctx, person.user.id, { dollars, stops })
      world.note(dollars === null ? 'budget removed' : stops ? 'budget that stops set' : 'budget set')
    },
  }
  await world.together(random.chance(0.2) ? [one, one] : [one])
}

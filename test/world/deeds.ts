import { eq } from 'drizzle-orm'
import { users } from '../../db/schema/accounts.ts'
import { settleCheckout } from '../../src/server/billing/plans/checkout.ts'
import type { Random } from '../../testing/random.ts'
import { task } from './habits/habit.ts'
import type { Person } from './people.ts'
import type { Task } from './program.ts'
import type { World } from './world.ts'

/** One thing that someone does now, or two at once, often just as an alarm rings or a webhook arrives. */
export async function deeds(world: World, random: Random, person: Person): Promise<Task[]> {
  const others = random.chance(0.3) ? await world.untilNext(40_000) : []
  const first = await deed(world, random, person)
  const often = { honest: 0.05, forgetful: 0.05, 'two tabs': 0.6, impatient: 0.5, cheating: 0.4 }[person.behavior]
  if (!random.chance(often)) return [first, ...others]
  return [first, random.chance(0.5) ? first : await deed(world, random, person), ...others]
}

async function deed(world: World, random: Random, person: Person): Promise<Task> {
  const { user } = person
  // The answer to the closing may have been lost: they are signed out anyway.
  const [row] = await world.database.db.select().from(users).where(eq(users.id, user.id))
  person.closedAt = row?.closedAt ?? null
  const isLive = (await person.live()) !== null
  const all: Record<string, () => Promise<unknown>> = {
    start: () => person.start(),
    stop: () => person.stop(),
    checkout: () => person.openCheckout(random.pick(['basic', 'basic', 'premium'])),
    pay: async () => person.pay(random, random.chance(0.25)),
    return: () => settleCheckout(world.ctx, user.id),
    cancel: () => person.cancel(),
    'pay bill': async () => (random.chance(0.5) ? person.payBill(random) : person.payPlan()),
    close: () => person.close(),
  }
  const name = weighted(random, weights(person, isLive))
  return task(person, name, all[name] as Task['run'])
}

function weights(person: Person, isLive: boolean): Record<string, number> {
  const { behavior } = person
  const pages = person.openPages().length
  const owed = person.openInvoices().length
  const cheating = behavior === 'cheating' ? 3 : 1
  if (person.closedAt !== null) return { pay: 10 * pages, 'pay bill': owed, return: 0.2 }
  return {
    start: isLive ? 1 : 8,
    stop: isLive ? (behavior === 'forgetful' ? 2 : 6) : 0.3,
    checkout: 2 * cheating,
    pay: pages * (behavior === 'cheating' ? 1 : 5),
    return: pages ? 1 : 0.2,
    cancel: 0.7,
    'pay bill': owed * { honest: 5, forgetful: 1, 'two tabs': 3, impatient: 3, cheating: 0.5 }[behavior],
    close: 0.15 * cheating,
  }
}

function weighted(random: Random, weights: Record<string, number>): string {
  const all = Object.entries(weights)
  let luck = random.next() * all.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [name, weight] of all) {
    luck -= weight
    if (luck < 0) return name
  }
  return all[0]?.[0] ?? ''
}

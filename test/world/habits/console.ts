import { and, eq, isNull } from 'drizzle-orm'
import { environments } from '../../../db/schema/fleet.ts'
import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { addEnvironment, retireEnvironment } from '../../../src/server/fleet/catalog.ts'
import { forceStop } from '../../../src/server/operations/fleet-acts.ts'
import { once } from '../../../src/server/operations/operator.ts'
import { endGrant, grant, lift, suspend } from '../../../src/server/operations/person-acts.ts'
import type { Random } from '../../../testing/random.ts'
import type { Person } from '../people.ts'
import type { World } from '../world.ts'
import { does, type Habit } from './habit.ts'

const ADMIN = { id: 'user_operator', name: 'Operator', email: 'operator@example.com', admin: true }
const REASON = 'Asked by support'

/** An operator suspends someone, stops their server, grants and ends plans, and sends forms twice. */
export const operate: Habit = async (world, random, person) => {
  if (random.chance(0.8)) await does(world, person, 'start', () => person.start())
  await world.advance(2 * MINUTE_MS)
  if (world.clock.ms % 2) await retireOrBringBack(world)
  for (let times = random.between(2, 6); times > 0; times--) {
    await act(world, random, person)
    if (random.chance(0.5)) await does(world, person, 'start', () => person.start())
    await world.advance(random.pick([1_000, 20_000, 2 * MINUTE_MS, 3 * MINUTE_MS]))
  }
  // Nobody stays suspended forever.
  await submit(world, random, person, 'lift')
}

/** The environment of the larger plans. Without a random choice, which would change every seed. */
async function retireOrBringBack({ database: { db }, clock }: World): Promise<void> {
  const hand = { db, now: () => clock.ms }
  const [offered] = await db
    .select()
    .from(environments)
    .where(and(eq(environments.name, 'Harbor'), isNull(environments.retiredAt)))
  if (offered) await retireEnvironment(hand, 'Harbor')
  else
    await addEnvironment(hand, { name: 'Harbor', description: 'Ships.', image: null, from: 'premium', position: null })
}

type ActName = 'suspend' | 'lift' | 'stop_run' | 'grant_plan' | 'end_plan'

async function act(world: World, random: Random, person: Person): Promise<void> {
  await submit(
    world,
    random,
    person,
    random.pick(['suspend', 'suspend', 'lift', 'stop_run', 'stop_run', 'grant_plan', 'end_plan'] as const),
  )
}

/** As the console's forms do: a form that is sent twice carries the same ID. */
async function submit(world: World, random: Random, person: Person, name: ActName): Promise<void> {
  const { id } = person.user
  const run = await person.live()
  const operator = { ctx: world.ctx, admin: ADMIN }
  const actId = `act_${Array.from({ length: 20 }, () => random.pick([...'abcdefghij0123456789'])).join('')}.${name.replace('_', '-')}`
  const why = { reason: REASON, confirmed: true, act_id: actId }
  const acts: Record<ActName, () => Promise<unknown>> = {
    suspend: () => suspend(operator, id, why),
    lift: () => lift(operator, id, why),
    stop_run: async () => run && forceStop(operator, run.id, why),
    grant_plan: () => grant(operator, id, { type: random.pick(['basic', 'premium']), hours: 5 }, why),
    end_plan: () => endGrant(operator, id, why),
  }
  if (name === 'grant_plan' || name === 'end_plan') person.hasUnusualPlan = true
  const one = {
    name: `operator ${name} of ${person.user.name}`,
    run: async () => {
      await once(world.ctx, why, acts[name]())
      world.note(`act: ${name}`)
      if (name !== 'stop_run' || run)
        world.acts.push({ id: actId, act: name, subject: run && name === 'stop_run' ? run.id : id })
    },
  }
  await world.together(random.chance(0.3) ? [one, one] : [one])
}

import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/domain/instant.ts'
import { addOwnEnvironment } from '../../../src/server/fleet/own-environments.ts'
import type { Random } from '../../../testing/random.ts'
import { OWN, type Person } from '../people.ts'
import { anyPlan } from '../programs/plan.ts'
import type { World } from '../world.ts'
import { at, does, type Habit, stops } from './habit.ts'

/** Buys Premium, and runs programs of their own image, one after the other: some at the end of a cycle. */
export const runPrograms: Habit = async (world, random, person) => {
  if (random.chance(0.8)) world.ec2.heal()
  await prepare(world, random, person)
  if (random.chance(0.3)) await goToTheEndOfACycle(world, random, person)
  for (let times = random.between(1, 4); times > 0; times--) {
    if ((await person.live()) !== null) {
      await does(world, person, 'stop', () => person.stop())
      await world.advance(MINUTE_MS)
    }
    const plan = anyPlan(random)
    world.programs.plan(person.user.id, plan)
    const stopAfterMs = random.chance(0.2) ? random.between(MINUTE_MS, 20 * MINUTE_MS) : null
    await does(world, person, 'run', () => person.run(stopAfterMs))
    await world.advance(random.between(10 * SECOND_MS, MINUTE_MS))
    await followProgram(world, random, person)
  }
}

async function prepare(world: World, random: Random, person: Person): Promise<void> {
  const { user } = person
  if ((await person.live()) !== null) await does(world, person, 'stop', () => person.stop())
  if (!person.subscription()) {
    await does(world, person, 'checkout', () => person.openCheckout('premium'))
    await does(world, person, 'pay', () => person.pay(random, false))
  }
  await world.advance(3 * MINUTE_MS)
  await does(world, person, 'add an environment', () => addOwnEnvironment(world.ctx, { user }, OWN))
}

async function goToTheEndOfACycle(world: World, random: Random, person: Person): Promise<void> {
  const { users } = await world.database.read()
  const due = users.find(({ id }) => id === person.user.id)?.billingDueAt ?? 0
  // A bill is due two minutes after the end of its cycle.
  if (due < world.clock.ms + 40 * 24 * HOUR_MS)
    await at(world, due - 2 * MINUTE_MS - random.between(10 * SECOND_MS, 4 * MINUTE_MS))
}

/** Until its exit or a stop: now and then just as it ends, often with the alarm. */
async function followProgram(world: World, random: Random, person: Person): Promise<void> {
  for (let looks = random.between(1, 6); looks > 0; looks--) {
    const run = await person.live()
    const agent = run && world.programs.of(run)
    if (!agent) return
    const chance = random.next()
    const end = agent.endsAt
    if (chance < 0.5 && end > world.clock.ms && end < world.clock.ms + 5 * HOUR_MS)
      await at(world, end + random.pick([-2_000, -1, 0, 1, 400, 2_000, 20_000, 70_000]))
    else await world.advance(random.pick([5 * SECOND_MS, 40 * SECOND_MS, 4 * MINUTE_MS, 4 * MINUTE_MS]))
    if (random.chance(0.15)) world.deploy()
    if (random.chance(0.2)) {
      const others = random.chance(0.7) ? await world.untilNext(40_000) : []
      await world.together([stops(person), ...others])
      await world.watch()
    }
  }
  // Its end has a few quiet minutes.
  for (let n = 0; n < 2; n++) await world.advance(4.5 * MINUTE_MS)
}

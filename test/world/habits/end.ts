import { HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import type { Random } from '../../../testing/random.ts'
import { at, does, type Habit, task } from './habit.ts'

/** Sets, moves, extends, and removes a server's end: now and then at a warning, at an end, or in two tabs. */
export const moveEnds: Habit = async (world, random, person) => {
  if (random.chance(0.7)) world.ec2.heal()
  if ((await person.live()) === null) await does(world, person, 'start', () => person.start())
  await world.advance(MINUTE_MS)
  for (let times = random.between(2, 6); times > 0; times--) {
    const to = wishedEnd(random)
    const move = task(person, 'move end', () => person.moveEnd(to))
    const other = wishedEnd(random)
    const second = task(person, 'move end too', () => person.moveEnd(other))
    await world.together(random.chance(0.15) ? [move, second] : [move])
    await world.watch()
    const run = await person.live()
    if (!run) return
    if (run.endsAt === null) {
      await world.advance(random.between(MINUTE_MS, 40 * MINUTE_MS))
      continue
    }
    await at(world, run.endsAt - 10 * MINUTE_MS + random.pick([-1_000, 0, 1, 1_000, MINUTE_MS]))
    // A warning has 2 quiet minutes.
    await world.advance(3 * MINUTE_MS)
    if (random.chance(0.5)) await does(world, person, 'extend', () => person.extend())
    if (random.chance(0.5)) continue
    // Just as it ends, often with the alarm.
    const { endsAt } = (await person.live()) ?? {}
    if (!endsAt || endsAt > world.clock.ms + 3 * HOUR_MS) return
    await at(world, endsAt - 2_000)
    const alarms = await world.untilNext(3_000)
    const late = random.pick([move, task(person, 'extend', () => person.extend())])
    await world.together(random.chance(0.8) ? [late, ...alarms] : alarms)
    await world.watch()
    await world.advance(4 * MINUTE_MS)
  }
}

/** In ms from now; null: no end. */
function wishedEnd(random: Random): number | null {
  const luck = random.next()
  if (luck < 0.12) return null
  if (luck < 0.3) return random.between(5_000, 9 * MINUTE_MS)
  return random.between(11 * MINUTE_MS, 90 * MINUTE_MS)
}

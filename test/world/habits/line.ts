import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { addPlaces } from '../../../src/server/fleet/places.ts'
import { does, type Habit, starts, stops } from './habit.ts'

/** Everyone wants a server, and those who get none wait in line; then places become free, often several at once. */
export const lineUp: Habit = async (world, random, _person, people) => {
  await world.together(people.map(starts))
  await world.advance(5_000)
  for (const one of people) {
    const start = random.chance(0.5)
    const maxGpus = random.chance(0.6) ? 1 : null
    await does(world, one, 'join', () => one.join({ maxGpus }, start))
    await world.advance(random.between(0, 4_000))
  }
  for (let n = 0; n < 4; n++) {
    const some = people.filter(() => random.chance(0.4))
    const clicker = random.pick(people)
    await world.together([...some.map(stops), starts(clicker)])
    await world.advance(random.pick([4_000, 20_000, MINUTE_MS, 6 * MINUTE_MS]))
  }
}

/** Joins, leaves, and joins again, to look better; and clicks when a place may become free. */
export const leaveAndReturn: Habit = async (world, random, person) => {
  await does(world, person, 'join', () => person.join({}, random.chance(0.5)))
  await world.advance(random.between(0, MINUTE_MS))
  await does(world, person, 'leave', () => person.leave())
  await does(world, person, 'join', () => person.join({}, random.chance(0.5)))
  const alarms = await world.untilNext(20_000)
  await world.together([...alarms, starts(person)])
  await world.watch()
}

/** Waits for a held place and lets it go, again and again. */
export const letHoldsLapse: Habit = async (world, _random, person, people) => {
  await does(world, person, 'join', () => person.join({ maxGpus: 1 }, false))
  for (let n = 0; n < 4; n++) {
    const [other] = people.filter((one) => one !== person)
    if (other) await does(world, other, 'stop', () => other.stop())
    await world.advance(4 * MINUTE_MS)
    await world.advance(2 * MINUTE_MS)
  }
}

/** A place appears that no write of a run frees. */
export const addAPlace: Habit = async (world, random, person, people) => {
  await does(world, person, 'join', () => person.join({ maxGpus: 1 }, random.chance(0.5)))
  const hand = { db: world.database.db, now: world.ctx.now }
  await addPlaces(hand, { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', gpus: 1, count: 1 })
  const clicker = random.pick(people)
  await does(world, clicker, 'start', () => clicker.start())
  await world.advance(10_000)
}

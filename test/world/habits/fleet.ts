import { DAY_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { addPlaces } from '../../../src/server/fleet/places.ts'
import { at, does, type Habit, starts, stops } from './habit.ts'

/** Starts and cancels, again and again. */
export const startOften: Habit = async (world, _random, person) => {
  for (let n = 0; n < 12; n++) {
    await does(world, person, 'start', () => person.start())
    await world.advance(3_000)
    await does(world, person, 'stop', () => person.stop())
    await world.advance(15_000)
  }
}

/** Stops a start at any of its steps, just as its alarm rings. */
export const stopAtAnAlarm: Habit = async (world, random, person) => {
  if (random.chance(0.6))
    world.ec2.inject(random.pick(['InsufficientInstanceCapacity', 'VcpuLimitExceeded', 'RequestLimitExceeded']), 5)
  if (random.chance(0.3)) world.ec2.conditions.hiddenMs = 30_000
  await does(world, person, 'start', () => person.start())
  for (let n = 0; n < 8; n++) {
    const stop = stops(person)
    const alarms = await world.untilNext(40_000)
    await world.together(random.chance(0.25) ? [stop, ...alarms] : alarms)
  }
  await does(world, person, 'start', () => person.start())
  await world.advance(5_000)
}

/** EC2 carries a launch out without showing it, and often refuses when we ask again. */
export const refuseWhatRuns: Habit = async (world, random, person) => {
  await does(world, person, 'stop', () => person.stop())
  await world.advance(MINUTE_MS)
  world.ec2.heal()
  world.ec2.conditions.hiddenMs = random.chance(0.7) ? 60_000 : 0
  world.ec2.inject('lost_response', random.between(1, 3), { action: 'RunInstances' })
  if (random.chance(0.6)) world.ec2.inject('UnauthorizedOperation', 1, { action: 'RunInstances' })
  await does(world, person, 'start', () => person.start())
  for (let n = 0; n < 6; n++) await world.together(await world.untilNext(40_000))
}

/** A server vanishes just before a cycle ends, while EC2 answers nobody. */
export const loseAtTheEnd: Habit = async (world, random, person) => {
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

/** Everyone has a server, and then the region or the account that we ask is the wrong one. */
export const missAllServers: Habit = async (world, random, _person, people) => {
  await world.together(people.map(starts))
  await world.advance(MINUTE_MS)
  world.ec2.conditions.wrongRegion = true
  world.note('wrong region')
  await world.advance(random.between(2 * MINUTE_MS, 4 * MINUTE_MS))
}

/** Starts in a zone without capacity, with free places elsewhere. */
export const startInAFullZone: Habit = async (world, random, person) => {
  const hand = { db: world.database.db, now: world.ctx.now }
  await addPlaces(hand, { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1b', gpus: 1, count: 3 })
  await does(world, person, 'stop', () => person.stop())
  await world.advance(MINUTE_MS)
  world.ec2.heal()
  world.ec2.inject('InsufficientInstanceCapacity', random.between(1, 4))
  await does(world, person, 'start', () => person.start())
  await world.advance(MINUTE_MS)
}

/** Everyone stops, and then our platform is down until EC2 forgets the instances it has ended. */
export const stopInSilence: Habit = async (world, _random, _person, people) => {
  const hand = { db: world.database.db, now: world.ctx.now }
  const count = people.length
  await addPlaces(hand, { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', gpus: 1, count })
  world.ec2.heal()
  await world.together(people.map(starts))
  await world.advance(MINUTE_MS)
  world.ec2.conditions.shutdownMs = MINUTE_MS
  await world.together(people.map(stops))
  await world.advance(5_000)
  await world.advance(3 * DAY_MS)
}

/** Stops a server after the end of its trial, while its alarm is late. */
export const stopAfterTheTrial: Habit = async (world, random, person) => {
  if ((await person.live()) === null) await does(world, person, 'start', () => person.start())
  await world.advance(MINUTE_MS)
  const end = (await person.live())?.mustStopAt
  if (!end) return
  await at(world, end + random.between(1_000, MINUTE_MS))
  await does(world, person, 'stop', () => person.stop())
}

import type { WarmMachineRow } from '../../../db/schema/warm.ts'
import { MINUTE_MS } from '../../../src/domain/instant.ts'
import { setWarm } from '../../../src/server/fleet/warm/settings.ts'
import type { World } from '../world.ts'
import { does, type Habit, starts } from './habit.ts'

const ZONES = ['us-east-1a', 'us-east-1b', 'us-east-1c']

/** The operator keeps other machines warm than before, at all hours. */
export const keepMachinesWarm: Habit = async (world, random) => {
  const hand = { db: world.database.db, now: world.ctx.now }
  for (const availabilityZone of ZONES)
    if (random.chance(0.6))
      await setWarm(hand, {
        instanceType: 'g6.4xlarge',
        availabilityZone,
        hours: 'always',
        count: random.between(0, 2),
      })
  await world.advance(random.between(0, 12 * MINUTE_MS))
}

/** Everyone comes when machines wait for them. */
export const startWarm: Habit = async (world, random, person, people) => {
  await keepMachinesWarm(world, random, person, people)
  await untilOneWaits(world)
  await world.together(people.map(starts))
  await world.advance(random.between(0, 2 * MINUTE_MS))
}

/** A machine that waits is lost, hangs, or has old user data and runs what it likes, or its zone is deployed again, just as somebody starts. */
export const startOnABadOne: Habit = async (world, random, person, people) => {
  await keepMachinesWarm(world, random, person, people)
  const waiting = await untilOneWaits(world)
  const id = waiting?.instanceId
  if (random.chance(0.3) || !id || !world.ec2.running().some((one) => one.id === id)) world.ec2.newTemplateVersion()
  else {
    const what = random.pick(['was lost', 'hung', 'ran old user data'] as const)
    if (what === 'was lost') world.ec2.vanish(id)
    else if (what === 'hung') world.warm.hang(id)
    else world.ec2.begin(id)
    world.note(`warm machine ${what}`)
  }
  await does(world, person, 'start', () => person.start())
  await world.advance(random.between(0, MINUTE_MS))
}

/** Or until none may come. */
async function untilOneWaits(world: World): Promise<WarmMachineRow | undefined> {
  for (let minutes = 0; minutes < 15; minutes++) {
    const { warm } = await world.database.read()
    const kept = warm.filter(({ endedAt }) => endedAt === null)
    const ready = kept.find(({ readyAt, endingAt }) => readyAt !== null && endingAt === null)
    if (ready || (minutes > 5 && !kept.length)) return ready
    await world.advance(MINUTE_MS)
  }
  return undefined
}

import { isNotNull } from 'drizzle-orm'
import { line } from '../../../db/schema/line.ts'
import { MINUTE_MS, toIso } from '../../../src/domain/instant.ts'
import { NO_WISHES } from '../../../src/domain/run-wishes.ts'
import { ALL_RESERVED } from '../../../src/domain/server-list.ts'
import { enterGroupCode } from '../../../src/server/fleet/line/group-code.ts'
import { makeGroup } from '../../../src/server/fleet/line/groups.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import type { Random } from '../../../testing/random.ts'
import { cloudHappening } from '../happenings.ts'
import type { Person } from '../people.ts'
import type { Task } from '../program.ts'
import type { World } from '../world.ts'
import { does, type Habit, task } from './habit.ts'

const GROUP_PLACES = 5
const GROUP_PEOPLE = 12
const GROUP_MS = 20 * MINUTE_MS

/**
 * A competition morning: hundreds of people want a server for some minutes, and few places exist. They come in crowds, use two
 * tabs, let scripts click, leave and join again, and let their holds lapse, while EC2 refuses, we deploy, and an operator holds
 * places back for a class. It ends when nobody waits.
 */
export const compete: Habit = async (world, random, person, people) => {
  const coming = [...people]
  await does(world, person, 'hold places back', () => holdForAClass(world, random, people))
  for (;;) {
    const waiting = await world.database.db.select().from(line)
    if (!coming.length && !waiting.length) return
    await world.together([
      ...coming.splice(0, random.between(5, 60)).map((one) => arrives(world, random, one)),
      ...(await holders(world, people)).flatMap((one) => startsInTwoTabs(world, random, one)),
      ...[0, 1, 2].map(() => clicks(world, random.pick(people) as Person)),
      ...(random.chance(0.3) ? rejoins(world, random, people, waiting) : []),
    ])
    await world.advance(random.between(2_000, 25_000))
    if (random.chance(0.3)) world.ec2.heal()
    if (random.chance(0.05)) cloudHappening(world, random)
    if (random.chance(0.1)) world.ec2.inject('InsufficientInstanceCapacity', random.between(1, 4))
    if (random.chance(0.02)) world.deploy()
  }
}

/** Everyone stops after some minutes: nobody's place lasts longer than their turn. */
const wishesOf = ({ clock }: World) => ({ ...NO_WISHES, stopAfterMs: (1 + (clock.ms % 4)) * MINUTE_MS })
const start = (world: World, { user }: Person) => startRun(world.ctx, { user }, null, null, wishesOf(world))

const clicks = (world: World, one: Person): Task => task(one, 'click', () => start(world, one))

function arrives(world: World, random: Random, one: Person): Task {
  const byItself = random.chance(0.5)
  return task(one, 'arrive', () =>
    start(world, one).catch((error: Error) => {
      if (error.message !== ALL_RESERVED) throw error
      return one.join(wishesOf(world), byItself)
    }),
  )
}

/** Forgetful people let every hold lapse. */
async function holders(world: World, people: Person[]): Promise<Person[]> {
  const held = await world.database.db.select().from(line).where(isNotNull(line.heldUntil))
  return people.filter(
    ({ user, behavior }) => behavior !== 'forgetful' && held.some(({ userId }) => userId === user.id),
  )
}

function startsInTwoTabs(world: World, random: Random, one: Person): Task[] {
  if (random.chance(0.5)) return []
  return one.behavior === 'two tabs' ? [clicks(world, one), clicks(world, one)] : [clicks(world, one)]
}

/** A script leaves and joins in a loop, to look better. */
function rejoins(world: World, random: Random, people: Person[], waiting: { userId: string }[]): Task[] {
  const chosen = random.pick(waiting)?.userId
  const one = people.find(({ user }) => user.id === chosen)
  if (!one) return []
  const run = async () => {
    for (let n = 0; n < 3; n++) {
      await one.leave()
      await one.join(wishesOf(world), random.chance(0.5))
    }
  }
  return [task(one, 'leave and join', run)]
}

/** Half of them are listed, the others enter its code. */
async function holdForAClass(world: World, random: Random, people: Person[]): Promise<void> {
  const from = random.between(0, people.length - GROUP_PEOPLE)
  const pupils = people.slice(from, from + GROUP_PEOPLE)
  const listed = pupils.slice(GROUP_PEOPLE / 2)
  const startsAt = world.clock.ms + random.between(0, 10 * MINUTE_MS)
  const { code } = await makeGroup(world.ctx, {
    name: 'Class',
    gpus: 1,
    places: GROUP_PLACES,
    from: toIso(startsAt),
    until: toIso(startsAt + GROUP_MS),
    people: listed.map(({ user }) => user.email).join(),
    withCode: true,
  })
  world.note('places held back')
  for (const { user } of pupils.slice(0, GROUP_PEOPLE / 2)) await enterGroupCode(world.ctx, user.id, code ?? '')
}

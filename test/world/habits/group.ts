import { MINUTE_MS, toIso } from '../../../src/domain/instant.ts'
import { enterGroupCode } from '../../../src/server/fleet/line/group-code.ts'
import { endGroup, makeGroup } from '../../../src/server/fleet/line/groups.ts'
import { at, does, type Habit, starts, stops } from './habit.ts'

/** An operator holds places back for a class: its people, those in line, and everyone else want them, also at its first and last moment. */
export const holdPlacesBack: Habit = async (world, random, person, people) => {
  const listed = people.filter(() => random.chance(0.3))
  const from = world.clock.ms + random.between(0, 3 * MINUTE_MS)
  const until = from + random.between(2 * MINUTE_MS, 12 * MINUTE_MS)
  const input = {
    name: 'Class',
    gpus: 1,
    places: random.between(1, 3),
    from: toIso(from),
    until: toIso(until),
    people: listed.map(({ user }) => user.email).join(),
    withCode: true,
  }
  let made: { id: string; code: string | null } | null = null
  await does(world, person, 'hold places back', async () => {
    made = await makeGroup(world.ctx, input)
    world.note('places held back')
  })
  const { id, code } = made ?? { id: '', code: null }
  const click = () => (random.chance(0.5) ? people.map(starts) : [starts(person)])
  for (const one of people) {
    if (code && random.chance(0.2)) await does(world, one, 'code', () => enterGroupCode(world.ctx, one.user.id, code))
    const maxGpus = random.chance(0.7) ? 1 : null
    if (random.chance(0.5)) await does(world, one, 'join', () => one.join({ maxGpus }, random.chance(0.5)))
  }
  await at(world, from + random.pick([-1, 0, 1, 3_000]))
  await world.together(click())
  await world.watch()
  for (let n = random.between(1, 3); n > 0; n--) {
    const some = people.filter(() => random.chance(0.4))
    await world.together([...some.map(stops), ...(random.chance(0.6) ? click() : [])])
    await world.advance(random.pick([1_000, 4_000, MINUTE_MS]))
    await world.together(click())
    await world.watch()
  }
  if (random.chance(0.3)) await does(world, person, 'end the group', () => endGroup(world.ctx, id))
  else await at(world, until + random.pick([-1, 0, 1]))
  await world.together(click())
  await world.advance(random.pick([4_000, 20_000, 2 * MINUTE_MS]))
}

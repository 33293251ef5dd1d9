import { warmSettings } from '../../db/schema/warm.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/instant.ts'
import { type Random, seededRandom } from '../../testing/random.ts'
import type { WorldDatabase } from './database.ts'
import { deeds } from './deeds.ts'
import { type Habit, stops, task } from './habits/habit.ts'
import { HABITS } from './habits.ts'
import { cloudHappening, edges, operatorDeed, stripeHappening } from './happenings.ts'
import { Memory } from './memory.ts'
import { Broken } from './mishaps.ts'
import { newPerson, type Person } from './people.ts'
import { CROWD_RULES } from './rules/crowd.ts'
import { NOTHING_IS_LEFT, QUIET_RULES } from './rules/quiet.ts'
import type { Rule } from './rules/rule.ts'
import { RULES } from './rules.ts'
import type { Schedule, Step } from './schedule.ts'
import { seedRandomness } from './seeded-crypto.ts'
import { sightings } from './sightings.ts'
import { World } from './world.ts'

/** Of more people than this, we check only what a crowd is about. */
const CROWD = 100
const NAMES = 'Ada Grace Alan Barbara Edsger Frances Katherine Margaret Niklaus Radia Sophie Tony'.split(' ')
/** A month with 31 days at the end of a leap year's February. */
const FIRST_BEGIN = Date.UTC(2028, 0, 1)

/**
 * Plays one world to its end.
 * @returns how often each state was seen
 * @throws Broken
 */
export async function play(
  database: WorldDatabase,
  { people: seeds, places, begins, steps, files = false }: Schedule,
  trace: ((line: string) => void) | null = null,
): Promise<Map<string, number>> {
  seedRandomness(begins)
  await database.empty()
  const world = new World(database, trace, files)
  world.clock.ms = FIRST_BEGIN + begins
  world.calm.disturb()
  const isCrowd = seeds.length > CROWD
  await world.addPlaces(places, isCrowd ? 0 : 1)
  const people: Person[] = []
  for (const [i, { behavior, trial }] of seeds.entries())
    people.push(await newPerson(world, NAMES[i] ?? `Pilot${i}`, behavior, trial))
  const memory = new Memory(() => world.clock.ms)
  world.watch = () => check(isCrowd ? CROWD_RULES : RULES, world, people, memory)
  for (const step of steps) {
    await playStep(world, people, step)
    await world.watch()
  }
  await becomeQuiet(world, people, isCrowd ? [8 * HOUR_MS] : TO_THE_NEXT_BILL)
  await check(isCrowd ? NOTHING_IS_LEFT : QUIET_RULES, world, people, memory)
  return world.reached
}

async function playStep(world: World, people: Person[], step: Step): Promise<void> {
  const random = seededRandom(step.luck)
  world.luck = seededRandom(step.luck ^ 0x5bd1e995)
  world.weather = step.weather
  // EC2's troubles last for two or three steps.
  if (random.chance(0.4)) world.ec2.heal()
  const person = people[step.who % people.length] as Person
  world.trace?.(
    `${new Date(world.clock.ms).toISOString()} ${step.weather}, wait ${step.wait}, ${step.kind}, luck ${step.luck}`,
  )
  await world.advance(step.wait === 'edge' ? await toEdge(world, random) : step.wait)
  if (step.kind === 'cloud') cloudHappening(world, random)
  else if (step.kind === 'stripe') stripeHappening(world, random, people)
  else if (step.kind === 'deploy') world.deploy()
  else if (step.kind === 'operator')
    await world.together([{ name: 'operator', run: () => operatorDeed(world, random, person) }])
  else if (step.kind === 'person') await world.together(await deeds(world, random, person))
  else await random.pick<Habit>(HABITS[step.kind])(world, random, person, people)
  // Even where nothing failed, calls took seconds.
  if (step.weather !== 'calm') world.calm.disturb()
}

/** How long until just before, at, or just after a moment that matters. */
async function toEdge(world: World, random: Random): Promise<number> {
  const at = random.pick(await edges(world))
  if (at === undefined) return random.between(0, MINUTE_MS)
  world.note('at an edge')
  const off = random.pick([-2_000, -1_000, -1, 0, 1, 400, 1_000, 2 * MINUTE_MS])
  return Math.max(0, at + off - world.clock.ms)
}

/** Two days pass, and then the rest of everyone's cycle. */
const TO_THE_NEXT_BILL = [8 * HOUR_MS, 2 * DAY_MS, 3 * DAY_MS, 33 * DAY_MS, 2 * DAY_MS, 5 * MINUTE_MS]

/** The faults stop and everyone stops; then this passes. */
async function becomeQuiet(world: World, people: Person[], waits: number[]): Promise<void> {
  const { database } = world
  world.luck = seededRandom(1)
  world.weather = 'calm'
  world.trace?.(`${new Date(world.clock.ms).toISOString()} everything becomes quiet`)
  world.ec2.heal()
  world.stripe.heal()
  await database.db.delete(warmSettings)
  for (let tries = 0; tries < 4; tries++) {
    await world.together(people.filter(({ closedAt }) => closedAt === null).map(stops))
    if ((await world.database.read()).line.length)
      await world.together(people.map((one) => task(one, 'leave', () => one.leave())))
    await world.advance(5 * MINUTE_MS)
  }
  for (const wait of waits) await world.advance(wait)
}

async function check(rules: Rule[], world: World, people: Person[], memory: Memory): Promise<void> {
  const rows = await world.database.read()
  memory.count(rows)
  world.files?.settle()
  const view = { world, rows, people, memory, now: world.clock.ms }
  for (const { name, broken } of rules) {
    const [first] = broken(view)
    if (first) throw new Broken(name, first)
  }
  for (const state of sightings(rows, memory)) world.note(state)
  memory.remember(rows)
}

import { and, eq } from 'drizzle-orm'
import { idempotencyKeys } from '../../../db/schema/fleet.ts'
import { DAY_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import { startRun } from '../../../src/server/fleet/start-run.ts'
import { stopRun } from '../../../src/server/fleet/stop-run.ts'
import type { Random } from '../../../testing/random.ts'
import { isMishap } from '../mishaps.ts'
import type { Person } from '../people.ts'
import type { World } from '../world.ts'

/** A person's program calls our API with an Idempotency-Key, and repeats the call until it gets an answer, or longer. */
export async function repeatCalls(world: World, random: Random, person: Person): Promise<void> {
  await repeat(world, random, person, 'start', async (key) => {
    const repeatable = { userId: person.user.id, key, digest: 'start' }
    return startRun(world.ctx, { user: person.user }, null, repeatable)
  })
  await world.advance(random.between(1_000, 3 * MINUTE_MS))
  const live = await person.live()
  if (!live) return
  await repeat(world, random, person, 'stop', async (key) => {
    person.asked.add(live.id)
    const repeatable = { userId: person.user.id, key, digest: `stop ${live.id}` }
    return stopRun(world.ctx, person.user.id, { runId: live.id, placeId: live.placeId }, repeatable)
  })
}

type Call = (key: string) => Promise<{ run: { id: string }; job: { id: string } }>

async function repeat(world: World, random: Random, person: Person, name: string, call: Call): Promise<void> {
  const key = `${name} ${world.clock.ms}`
  const one = {
    name: `${person.user.name} calls ${name}`,
    run: () => callOnce(world, person, key, call, random.chance(0.4)),
  }
  for (let times = random.between(2, 5); times > 0; times--) {
    await world.together(random.chance(0.4) ? [one, one] : [one])
    await world.advance(random.between(0, random.chance(0.1) ? DAY_MS - MINUTE_MS : 30_000))
  }
}

async function callOnce(world: World, person: Person, key: string, call: Call, isLost: boolean): Promise<void> {
  const doneAt = await whenDone(world, person, key)
  const isDone = doneAt !== undefined && stillStands(world, doneAt)
  const earlier = person.answers.get(key)
  const before = earlier && stillStands(world, earlier.doneAt) ? earlier.answer : undefined
  try {
    const { run, job } = await call(key)
    const answer = `${run.id} ${job.id}`
    if (isLost) return world.note('answer to a call lost')
    if (before !== undefined) world.note('call repeated')
    if (before !== undefined && before !== answer) person.contradictions.push(`${key}: ${before}, then ${answer}`)
    if (before === undefined && isDone) world.note('call repeated after a lost answer')
    person.answers.set(key, { answer, doneAt: (await whenDone(world, person, key)) ?? world.clock.ms })
  } catch (error) {
    if (isDone && !isMishap(error)) person.contradictions.push(`${key}: done, then ${(error as Error).message}`)
    throw error
  }
}

/** When the call did its work; undefined if it hasn't, or its key is forgotten. */
async function whenDone(world: World, { user }: Person, key: string): Promise<number | undefined> {
  const isIt = and(eq(idempotencyKeys.userId, user.id), eq(idempotencyKeys.key, key))
  const [kept] = await world.database.db.select().from(idempotencyKeys).where(isIt)
  return kept?.createdAt
}

/** Whether a call that begins now must still find its key. A key stands for a day. */
const stillStands = (world: World, doneAt: number) => doneAt > world.clock.ms - DAY_MS + MINUTE_MS

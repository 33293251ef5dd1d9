import { sql } from 'drizzle-orm'
import { writeBatch } from '../../db/client.ts'
import { users } from '../../db/schema/accounts.ts'
import { places } from '../../db/schema/fleet.ts'
import { line, lineGroupPeople, lineGroups, lineTurns, lineWaits } from '../../db/schema/line.ts'
import { HOUR_MS, toIso } from '../../src/domain/instant.ts'
import { listGroups, makeGroup } from '../../src/server/fleet/line/groups.ts'
import { LINE } from '../../src/server/ports/objects.ts'
import { memoryDatabase } from '../stack/memory-database.ts'
import { type Customer, newCustomer } from './fleet.ts'
import { pressStop, settle } from './play.ts'
import { openWorld, type World } from './world.ts'

type Wanted = { count?: number; people?: Customer[]; fromMs?: number; ms?: number; gpus?: number; withCode?: boolean }

/** A world in which people wait in line, and an operator may hold places back for groups. */
export async function openGroups() {
  const world = await openWorld(memoryDatabase())
  const hand = { db: world.db, now: () => world.clock.ms, by: { id: 'user_admin', reason: 'Class' } }
  return {
    world,
    hand,
    ctx: world.ctx,
    /** Nobody waits, no group, and no place is free. */
    empty: () => empty(world),
    /** Places held back from now on, or from later. */
    group({ count = 1, people = [], fromMs = 0, ms = HOUR_MS, gpus = 1, withCode = !people.length }: Wanted = {}) {
      const now = world.clock.ms
      return makeGroup(hand, {
        name: 'Competition',
        gpus,
        places: count,
        from: toIso(now + fromMs),
        until: toIso(now + fromMs + ms),
        people: people.map(({ user }) => user.email).join('\n'),
        withCode,
      })
    },
    /** Who confirmed their addresses. */
    async customers(count: number) {
      const people = await Promise.all(Array.from({ length: count }, () => newCustomer(world)))
      await world.db.update(users).set({ confirmedAt: world.clock.ms })
      return people as [Customer, ...Customer[]]
    },
    /** What the console shows of the latest group. */
    async shown(ctx = world.ctx) {
      const [first] = await listGroups(ctx)
      return { used: first?.used, held: first?.held, missing: first?.missing, state: first?.state }
    },
    /** Stops someone's server, and waits until its place is free or someone else's. */
    async end(one: Customer) {
      await pressStop(world, one)
      await settle(world, one)
    },
    /** The next look of the object that keeps the line. */
    async look() {
      await world.ring(LINE)
      await world.process.settle()
    },
  }
}

async function empty({ db }: World): Promise<void> {
  await writeBatch(db, [
    db.delete(line),
    db.delete(lineTurns),
    db.delete(lineWaits),
    db.delete(lineGroupPeople),
    db.delete(lineGroups),
    db.update(places).set({
      retiredAt: 1,
      reservedBy: sql`CASE WHEN reserved_by LIKE 'user_%' THEN NULL ELSE reserved_by END`,
    }),
  ])
}

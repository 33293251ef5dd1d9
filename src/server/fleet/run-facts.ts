import { and, asc, eq, type SQL } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import { launches, places, type RunEventRow, type RunRow, runEvents, runs } from '../../../db/schema/fleet.ts'
import { toIso } from '../../domain/instant.ts'
import type { RunFacts } from '../../domain/run-timeline.ts'
import { endedBecause } from '../../domain/server.ts'
import type { ProviderRecord } from '../../domain/wire/fleet.ts'
import type { Context } from '../runtime/context.ts'
import { toServer } from './wire.ts'

/** The reads for `toRunFacts`. */
export function runFactsQueries(ctx: Context, runId: string, whose?: SQL) {
  return [
    ctx.db
      .select()
      .from(runs)
      .where(and(eq(runs.id, runId), whose)),
    ctx.db
      .select({ launch: launches, place: places })
      .from(launches)
      .innerJoin(places, eq(places.id, launches.placeId))
      .where(eq(launches.runId, runId))
      .orderBy(asc(launches.createdAt)),
    ctx.db.select().from(runEvents).where(eq(runEvents.runId, runId)).orderBy(asc(runEvents.at)),
  ] as const
}

type Launches = BatchResponse<ReturnType<typeof runFactsQueries>>[1]

/** What `runTimeline` needs to know about a run, for its owner and for the console. */
export function toRunFacts(run: RunRow, launchRows: Launches, happened: RunEventRow[]): RunFacts {
  return {
    run,
    launches: launchRows.map(({ launch, place }) => ({
      ...launch,
      instanceType: place.instanceType,
      availabilityZone: place.availabilityZone,
    })),
    happened,
    endedBy: endedBecause(toServer(run)),
  }
}

/** EC2's record of the run's last machine, once it's gone. */
export function toProviderRecord(launchRows: Launches): ProviderRecord | null {
  const last = launchRows.findLast(({ launch }) => launch.outcome === 'gone' && launch.launchedAt !== null)?.launch
  if (!last || last.launchedAt === null) return null
  return { launched_at: toIso(last.launchedAt), ended_at: toIso(last.endedAt), reason: last.endReason }
}

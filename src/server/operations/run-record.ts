import { asc, eq, sql } from 'drizzle-orm'
import { users } from '../../../db/schema/accounts.ts'
import { jobs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import { dollarsOf, meterEnd, runSeconds } from '../../domain/money/billing.ts'
import type { RunRecord } from '../../domain/run-record.ts'
import { runTimeline } from '../../domain/run-timeline.ts'
import { worldText } from '../../domain/worlds.ts'
import { runFactsQueries, toRunFacts } from '../fleet/run-facts.ts'
import type { Context } from '../runtime/context.ts'

/** Everything that an admin may want to know about a run. @throws not_found */
export async function getRunRecord(ctx: Context, id: string): Promise<RunRecord> {
  const [[run], launchRows, happened, [owner], jobRows] = await ctx.db.batch([
    ...runFactsQueries(ctx, id),
    ctx.db.select().from(users).where(sql`id = (SELECT user_id FROM server_sessions WHERE id = ${id})`),
    ctx.db.select().from(jobs).where(eq(jobs.runId, id)).orderBy(asc(jobs.createdAt)),
  ])
  if (!run || !owner) throw new AppError('not_found', 'Run not found.')
  const seconds = run.billedFrom === null ? 0 : runSeconds(run.billedFrom, meterEnd(run, ctx.now()))
  return {
    id: run.id,
    state: run.endedAt ? 'ended' : run.stopRequestedAt ? 'stopping' : run.runningAt ? 'running' : 'starting',
    owner: { id: owner.id, name: owner.name, email: owner.email },
    instance_type: run.instanceType,
    availability_zone: run.availabilityZone,
    world: worldText(run),
    image: run.image,
    place_id: run.placeId,
    instance_id: run.instanceId,
    ip_address: run.ipAddress,
    has_door: ctx.config.door !== null && run.doorLabel !== null,
    ended_because: run.endedAt === null ? null : run.endedBecause,
    error_code: run.endedAt === null ? null : run.errorCode,
    error_message: run.errorMessage,
    seconds,
    cost_dollars: dollarsOf(seconds),
    events: runTimeline(toRunFacts(run, launchRows, happened), { vendor: true }),
    seen_at: toIso(run.confirmedAt),
    launches: launchRows.map(({ launch }) => ({
      token: launch.token,
      place_id: launch.placeId,
      outcome: launch.outcome ?? 'unknown',
      instance_id: launch.instanceId,
      launched_at: toIso(launch.launchedAt),
      ended_at: toIso(launch.endedAt),
      end_reason: launch.endReason,
    })),
    jobs: jobRows.map((row) => ({
      id: row.id,
      kind: row.kind,
      status: row.status,
      attempts: row.attempts,
      error_code: row.errorCode,
      error_message: row.errorMessage,
      created_at: toIso(row.createdAt),
      updated_at: toIso(row.updatedAt),
    })),
  }
}

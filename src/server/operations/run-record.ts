import { asc, eq } from 'drizzle-orm'
import { jobs, launches, runs, users } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import { dollarsOf, meterEnd, runSeconds } from '../../domain/money/billing.ts'
import type { RunRecord } from '../../domain/run-record.ts'
import type { Context } from '../context.ts'

/** Everything that an admin may want to know about a run. @throws not_found */
export async function getRunRecord(ctx: Context, id: string): Promise<RunRecord> {
  const [[found], launchRows, jobRows] = await ctx.db.batch([
    ctx.db
      .select({ run: runs, owner: users })
      .from(runs)
      .innerJoin(users, eq(users.id, runs.userId))
      .where(eq(runs.id, id)),
    ctx.db.select().from(launches).where(eq(launches.runId, id)).orderBy(asc(launches.createdAt)),
    ctx.db.select().from(jobs).where(eq(jobs.runId, id)).orderBy(asc(jobs.createdAt)),
  ])
  if (!found) throw new AppError('not_found', 'Run not found.')
  const { run, owner } = found
  const seconds = run.billedFrom === null ? 0 : runSeconds(run.billedFrom, meterEnd(run, ctx.now()))
  const times: [string, number | null][] = [
    ['Requested', run.requestedAt],
    ['Machine running', run.runningAt],
    ['First answer: the meter starts', run.billedFrom],
    ['Last seen running', run.confirmedAt],
    ['Warning of its end', run.trialWarnedAt],
    ['Stop accepted', run.stopRequestedAt],
    ['The meter ended', run.meteredUntil],
    ['Instance gone, place free', run.endedAt],
  ]
  return {
    id: run.id,
    state: run.endedAt ? 'ended' : run.stopRequestedAt ? 'stopping' : run.runningAt ? 'running' : 'starting',
    owner: { id: owner.id, name: owner.name, email: owner.email },
    instance_type: run.instanceType,
    availability_zone: run.availabilityZone,
    place_id: run.placeId,
    instance_id: run.instanceId,
    ip_address: run.ipAddress,
    error_message: run.errorMessage,
    seconds,
    cost_dollars: dollarsOf(seconds),
    times: times
      .filter((time): time is [string, number] => time[1] !== null)
      .sort(([, a], [, b]) => a - b)
      .map(([what, at]) => ({ what, at: toIso(at) })),
    launches: launchRows.map((row) => ({
      token: row.token,
      place_id: row.placeId,
      created_at: toIso(row.createdAt),
      outcome: row.outcome ?? 'unknown',
      instance_id: row.instanceId,
      refusal_code: row.refusalCode,
      refusal_request_id: row.refusalRequestId,
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

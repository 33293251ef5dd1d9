import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { writeBatch } from '../../../../db/client.ts'
import { jobs } from '../../../../db/schema/fleet.ts'
import { line } from '../../../../db/schema/line.ts'
import { endOfFailure, type JobErrorCode } from '../../../domain/run-end.ts'
import { eventQuery, sendSoon } from '../../events/outbox.ts'
import { tellSoon } from '../../mail/notices.ts'
import { deliverMail } from '../../mail/outbox.ts'
import { siteOrigin } from '../../runtime/context.ts'
import { setAsideQuery } from '../places.ts'
import { serverEvent } from '../server-events.ts'
import { clearLaunches, freePlaceQueries } from './launches.ts'
import type { Outcome, StepInput } from './step.ts'
import { endedQueries } from './tell-ended.ts'

/** Records the reason, then cleans up, and only then fails the job. */
export async function fail(input: StepInput, errorCode: JobErrorCode, errorMessage: string): Promise<Outcome> {
  const { ctx, job } = input
  const { rowsAffected } = await ctx.db
    .update(jobs)
    .set({ errorCode, errorMessage })
    .where(and(eq(jobs.id, job.id), isNotNull(jobs.runAt)))
  // A stop came first: it cleans up.
  if (!rowsAffected) return 'finished'
  return clearUp({ ...input, job: { ...job, errorCode, errorMessage } })
}

export async function clearUp({ ctx, job, run, report }: StepInput): Promise<Outcome> {
  const wait = await clearLaunches(ctx, run)
  if (wait !== null) {
    // Give the reason at once, even if we still have to look for an earlier request to EC2.
    await report(`${job.errorMessage ?? ''} Cleaning up…`.trim())
    return { wait }
  }
  const now = ctx.now()
  const { endLog, lastWords } = await import('../run-log.ts')
  if (run.instanceId !== null) await endLog(ctx, run.id)
  const { because, code } = endOfFailure(job.errorCode ?? 'timeout')
  const end = { endedBecause: because, errorCode: code, errorMessage: job.errorMessage }
  const event = serverEvent(ctx, 'server.failed', { ...run, endedAt: now, stopRequestedAt: now, ...end })
  const isEnded = sql`EXISTS (SELECT 1 FROM server_sessions
    WHERE id = ${run.id} AND ended_at = ${now} AND stop_requested_at = ${now} AND ended_because = ${because})`
  const { startFailedMail } = await import('../../mail/ended-letters.ts')
  const message = startFailedMail(siteOrigin(ctx), run.id, job.errorMessage ?? '', await lastWords(ctx, run))
  // A refusal of the whole account doesn't depend on anyone's choices either.
  const isRefused = job.errorCode === 'launch_refused' && (await ctx.db.$count(line, eq(line.runId, run.id))) > 0
  const foundNoMachine = job.errorCode === 'no_capacity' || isRefused
  const results = await writeBatch(ctx.db, [
    // If we accepted a stop since, it ends the run.
    ctx.db.run(sql`UPDATE server_sessions SET ended_at = ${now}, stop_requested_at = ${now}, ended_because = ${because},
      error_code = ${code}, error_message = ${job.errorMessage} WHERE id = ${run.id} AND stop_requested_at IS NULL`),
    eventQuery(ctx, run.userId, event, isEnded),
    // Otherwise the next in line would meet the same refusal, and the next, within seconds.
    ...(isRefused ? [setAsideQuery(ctx, sql`reserved_by = ${run.id}`)] : []),
    ...freePlaceQueries(ctx, run, { foundNoMachine }),
    ctx.db.run(
      sql`UPDATE jobs SET status = 'failed', run_at = NULL, updated_at = ${now} WHERE id = ${job.id} AND run_at IS NOT NULL`,
    ),
    ...endedQueries(ctx, run, message, isEnded, foundNoMachine ? 'full' : 'failure'),
  ])
  sendSoon(ctx, run.userId, results[1])
  tellSoon(ctx, run.userId, results.at(-1))
  ctx.background(deliverMail(ctx))
  return 'finished'
}

import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import { type JobRow, jobs, type RunRow } from '../../../db/schema/fleet.ts'
import { FIRST_STOP_AFTER } from '../../domain/ending.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import { startupSeconds, wholeSecondFrom } from '../../domain/money/billing.ts'
import { writeParameters } from '../../domain/parameters.ts'
import { runTimeline } from '../../domain/run-timeline.ts'
import { secretFields } from '../../domain/run-wishes.ts'
import type { RunView } from '../../domain/views.ts'
import { costQueries, toCostLines } from '../billing/bills/run-bill.ts'
import { guestsQuery } from '../fleet/guests.ts'
import { endOf } from '../fleet/jobs/ends.ts'
import { runFactsQueries, toProviderRecord, toRunFacts } from '../fleet/run-facts.ts'
import { toServer } from '../fleet/wire.ts'
import type { Context } from '../runtime/context.ts'

/** One of the user's runs with everything that we know about it, in one round trip. @throws not_found */
export async function getRun(ctx: Context, userId: string, runId: string): Promise<RunView> {
  const now = ctx.now()
  const mine: SQL = sql`user_id = ${userId}`
  const [[run], launches, happened, bills, runRows, history, guests, [job]] = await ctx.db.batch([
    ...runFactsQueries(ctx, runId, mine),
    ...costQueries(ctx, userId, runId),
    guestsQuery(ctx, userId),
    ctx.db
      .select()
      .from(jobs)
      .where(and(eq(jobs.runId, runId), mine))
      .orderBy(desc(jobs.createdAt))
      .limit(1),
  ])
  if (!run) throw new AppError('not_found', 'Server session not found.')
  const started = run.billedFrom ?? run.endedAt ?? now
  return {
    server: toServer(run, ctx.config),
    end: toEnd(run),
    events: runTimeline(toRunFacts(run, launches, happened)),
    lines: toCostLines([bills, runRows, history], run, now),
    startup: {
      from: toIso(run.requestedAt),
      until: toIso(wholeSecondFrom(started)),
      seconds: startupSeconds(run.requestedAt, started),
    },
    provider: toProviderRecord(launches),
    said: saidOf(job),
    wishes: wishesOf(run),
    secrets: run.secrets ?? [],
    guests: guests.filter((guest) => guest.runId === runId).map(({ expiresAt }) => toIso(expiresAt)),
  }
}

function toEnd(run: RunRow): RunView['end'] {
  const { end, isOwn } = endOf(run)
  if (end !== Infinity) return { at: toIso(end), isTrial: !isOwn }
  return run.inTrial && run.billedFrom === null ? { at: null, isTrial: true } : null
}

/** What the last job said when it ended. */
function saidOf(job: JobRow | undefined): string | null {
  return job?.status === 'failed' ? job.errorMessage : (job?.result ?? null)
}

/** What to send for a run like this one. */
function wishesOf(run: RunRow): Record<string, string> {
  const { name, maxGpus, environment, vehicle, parameters, secrets, untilExit, command } = run
  const stopAfter = stopAfterLike(run)
  return {
    ...(name === null ? {} : { name }),
    ...(environment === null ? {} : { environment }),
    ...(vehicle === null ? {} : { vehicle }),
    ...(parameters === null ? {} : { parameters: writeParameters(parameters) }),
    ...(untilExit ? { until: 'exit' } : {}),
    ...(command === null ? {} : { command: JSON.stringify(command) }),
    ...secretFields(secrets ?? []),
    ...(maxGpus === null ? {} : { max_gpus: String(maxGpus) }),
    ...(stopAfter === null ? {} : { stop_after: String(stopAfter) }),
  }
}

/** After how many seconds a run like this one ends. An end that nobody chose on the site becomes a plan's default end. */
export function stopAfterLike(run: RunRow): number | null {
  const { inTrial, mustStopAt, byToken, untilExit, defaultEndsAt, budgetCents, requestedAt } = run
  // Ends set by a budget, a smaller plan, or idleness don't carry over: each sets its own again.
  if (budgetCents !== null) return run.stopAfter
  const end = run.idleEnds || run.planEnds ? run.ownEndsAt : run.endsAt
  // Rows from before `inTrial` don't have it.
  const isUnasked = inTrial || mustStopAt !== null || byToken
  if (end === null) return isUnasked && !untilExit ? FIRST_STOP_AFTER : null
  return end === defaultEndsAt ? FIRST_STOP_AFTER : Math.max(60, Math.round((end - requestedAt) / 1000))
}

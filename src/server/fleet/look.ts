import { type SQL, sql } from 'drizzle-orm'
import { type RunRow, runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import type { Failure } from '../../domain/run-end.ts'
import type { CloudInstance, InstanceState } from '../ports/cloud.ts'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import type { FailedRun } from './jobs/own-failures.ts'
import { areManyUnseen, ENDED, isLongUnseen } from './jobs/sight.ts'
import { requestStop } from './stop-run.ts'
import { endOrphans } from './sweep.ts'

/** To notice within a minute that a server ended, even if EC2 takes long to list thousands. */
export const LOOK_EVERY_MS = 20_000
/** After one failed look, and after several: we ask a throttled EC2 less often, never more. */
export const FAILED_LOOK_MS = { first: 30_000, latest: 60_000 }
/** Enough for a hundred thousand instances. */
const MOST_PAGES = 100
/** The others wait for the next look. */
const LOST_AT_ONCE = 200

/** Runs that we watch. Starts and stops look for their instances themselves, and one whose program ended is about to stop. */
const IS_WATCHED = sql`ended_at IS NULL AND exited_at IS NULL AND stop_requested_at IS NULL AND confirmed_at IS NOT NULL AND running_at IS NOT NULL`

/** One look, and when the next is due. @throws what EC2 or the database threw */
export async function watchFleet(ctx: Context): Promise<{ at: number; wait: number }> {
  const begun = ctx.now()
  await lookAtFleet(ctx)
  const at = ctx.now()
  return { at, wait: Math.max(LOOK_EVERY_MS / 2, begun + LOOK_EVERY_MS - at) }
}

/**
 * Lists all our instances and stores what it saw, one statement per thousand: confirms runs whose instance runs, ends
 * those whose instance is gone, and ends instances that no run owns. Safe to repeat and to interrupt anywhere. Wakes a
 * user only if their server is lost.
 */
async function lookAtFleet(ctx: Context): Promise<void> {
  const at = ctx.now()
  const found: CloudInstance[] = []
  let after: string | null = null
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await readPage(ctx, after)
    await confirm(ctx, page.instances, at)
    found.push(...page.instances)
    after = page.next
    if (after === null) break
  }
  const others = found.filter(({ state }) => state !== 'running')
  const ended = others.filter(({ state }) => ENDED.has(state))
  const byThemselves = ended.filter(({ shutItselfDown }) => shutItselfDown)
  // A running instance can end like this for many reasons. Before it answers, only something that it needs to start can
  // be missing.
  if (byThemselves.length)
    await endLost(ctx, sql`billed_from IS NULL AND instance_id IN ${idsOf(byThemselves)}`, {
      failureOf: async (run) => (await import('./jobs/own-failures.ts')).ownFailure(ctx, run),
    })
  if (ended.length) await endLost(ctx, sql`instance_id IN ${idsOf(ended)}`)
  // Only a look that saw every page proves that an instance is missing.
  if (after === null) {
    await noteUnseen(ctx, others, at)
    await endLost(ctx, isLongUnseen(ctx.now()), { isMistake: () => areManyUnseen(ctx) })
  }
  await endOrphans(ctx, found).catch((error) => {
    // If EC2 refused once, it will refuse again. That must not delay the next look.
    if (!(error instanceof AppError && error.code === 'provider_failed')) throw error
  })
}

/** A failed look proves nothing. */
async function readPage(ctx: Context, after: string | null) {
  try {
    return await ctx.cloud.listPage(after)
  } catch (error) {
    ctx.log('watch_failed', {}, error)
    await (await import('./jobs/refusals.ts')).alertIfRefused(ctx, error)
    throw error
  }
}

/**
 * Confirms the runs of these instances up to the moment the look began: nobody pays for what we only saw later. An
 * instance that boots again isn't missing, but isn't running either.
 */
async function confirm(ctx: Context, instances: CloudInstance[], at: number): Promise<void> {
  const inState = (state: InstanceState) => instances.filter((one) => one.state === state)
  const [running, pending] = [inState('running'), inState('pending')]
  if (running.length)
    await ctx.db.run(sql`UPDATE server_sessions INDEXED BY server_sessions_by_instance
      SET confirmed_at = max(confirmed_at, ${at}), unseen_since = NULL, unseen_looks = 0
      WHERE instance_id IN ${idsOf(running)} AND ${IS_WATCHED}`)
  if (pending.length)
    await ctx.db.run(sql`UPDATE server_sessions INDEXED BY server_sessions_by_instance
      SET unseen_since = NULL, unseen_looks = 0
      WHERE instance_id IN ${idsOf(pending)} AND unseen_looks > 0 AND ${IS_WATCHED}`)
}

/** Counts the look on each run that was up when it began and is on no page. */
async function noteUnseen(ctx: Context, others: CloudInstance[], at: number): Promise<void> {
  await ctx.db.run(sql`UPDATE server_sessions SET unseen_since = coalesce(unseen_since, ${ctx.now()}), unseen_looks = unseen_looks + 1
    WHERE ${IS_WATCHED} AND running_at < ${at} AND confirmed_at < ${at}
      AND instance_id NOT IN ${idsOf(others)}`)
}

const LOST: Failure = {
  code: 'instance_lost',
  message: 'Your server stopped unexpectedly. We only count the time until we last saw it running.',
}

const NEVER_READY: Failure = {
  code: 'instance_lost',
  message: "Your server didn't start: its machine stopped before it was ready.",
}

/** No text of a customer's: many at once must fit into one answer of libSQL. */
const LOST_RUN = {
  id: runs.id,
  userId: runs.userId,
  instanceId: runs.instanceId,
  environment: runs.environment,
  image: runs.image,
  filesPhase: runs.filesPhase,
  diedOf: runs.diedOf,
  exitCode: runs.exitCode,
  billedFrom: runs.billedFrom,
  confirmedAt: runs.confirmedAt,
  parameters: sql<0 | 1>`parameters IS NOT NULL`,
}
type LostRun = FailedRun & Pick<RunRow, 'billedFrom' | 'confirmedAt'>

/** Ends these runs, as of the moment we last saw them, unless they've been seen since or all of this is a mistake. */
async function endLost(
  ctx: Context,
  isLost: SQL,
  {
    isMistake = async () => false,
    failureOf = async (run: LostRun): Promise<Failure> => (run.billedFrom === null ? NEVER_READY : LOST),
  } = {},
): Promise<void> {
  const lost = await ctx.db
    .select(LOST_RUN)
    .from(runs)
    .where(sql`${IS_WATCHED} AND ${isLost}`)
    .orderBy(runs.confirmedAt)
    .limit(LOST_AT_ONCE)
  if (!lost.length || (await isMistake())) return
  const endOne = async (run: LostRun) => {
    const channel = ctx.channel(run.userId)
    await channel.arm(run.userId)
    const failure = await failureOf(run)
    await requestStop(ctx, run, run.confirmedAt ?? 0, { failure, when: sql`confirmed_at = ${run.confirmedAt}` })
    ctx.background(channel.wake(run.userId))
  }
  // The next look finds it again. If its user's object is busy, that must not keep this look from all others.
  await fourAtOnce(lost, (run) =>
    endOne(run).catch((error) => ctx.log('lost_not_ended', { userId: run.userId, runId: run.id }, error)),
  )
}

function idsOf(instances: CloudInstance[]): SQL {
  return sql`(SELECT value FROM json_each(${JSON.stringify(instances.map(({ id }) => id))}))`
}

import { and, desc, eq, inArray, notInArray, type SQL, sql } from 'drizzle-orm'
import { type Query, writeBatch } from '../../../db/client.ts'
import { type RunRow, runEvents, runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import { type RunChange, runChange } from '../../domain/run-change.ts'
import type { RunActor, RunEventKind } from '../../domain/run-event.ts'
import { limitPerson } from '../limits/limits.ts'
import type { Context } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { actorOf, endChange, runEventQuery } from '../runtime/run-events.ts'
import type { Starter } from './start-run.ts'
import { toServer } from './wire.ts'

export const STOPPED = 'This server is already stopping or stopped.'
export const END_MOVED = 'The end has moved since you opened this page.'
export const PAST_PLAN = 'Your plan no longer includes this server then. Keep your plan to keep it longer.'

/** A run keeps at most this many changes of each kind, because programs may write their progress into its name. */
const KEPT_CHANGES = 100

/**
 * Moves or removes a run's end, and names the run, and records who did it. Setting what is already set does nothing.
 * @throws not_found (also for another user's run), not_running (or its end has come), conflict (it moved), invalid, too_many
 */
export async function changeRun(ctx: Context, owner: Starter, runId: string, input: RunChange): Promise<RunRow> {
  const by = actorOf(owner)
  const [found] = await ctx.db
    .select()
    .from(runs)
    .where(and(eq(runs.id, runId), eq(runs.userId, owner.user.id)))
  if (!found) throw new AppError('not_found', 'Server session not found.')
  // Checked before anything is written, so that a refusal changes nothing.
  if (input.ends_at !== undefined && !canMoveEnd(found, ctx.now())) throw new AppError('not_running', STOPPED)
  const { endsAt, name } = requireValid(runChange(ctx.now()), input)
  if (endsAt !== undefined) requireWithinPlan(found, endsAt)
  const isMoved = endsAt !== undefined && endsAt !== found.endsAt
  const isNamed = name !== undefined && name !== found.name
  // A program that writes its progress into the name must not keep its owner from extending the run.
  if (isNamed) await limitPerson(ctx, 'name_run', owner.user.id)
  if (isMoved) await limitPerson(ctx, 'move_end', owner.user.id)
  const named = isNamed ? await rename(ctx, found, name, by) : found
  return isMoved ? moveEnd(ctx, found, endsAt, by) : named
}

async function rename(ctx: Context, { id, userId }: RunRow, name: string | null, by: RunActor): Promise<RunRow> {
  const isNew = sql`name IS NOT ${name}`
  await writeBatch(ctx.db, [
    runEventQuery(ctx, id, { what: 'renamed', detail: name, by }, isNew),
    dropOldQuery(ctx, id, ['renamed']),
    ctx.db.run(sql`UPDATE server_sessions SET name = ${name} WHERE id = ${id} AND ${isNew}`),
  ])
  const run = await read(ctx, id)
  ctx.background(ctx.channel(userId).tellServer('server.updated', toServer(run, ctx.config)))
  return run
}

/** Sets a live run's end, unless a stop, the old end, or another move came first. @throws not_running, conflict */
export async function moveEnd(ctx: Context, found: RunRow, endsAt: number | null, by: RunActor): Promise<RunRow> {
  const { id, userId } = found
  const channel = ctx.channel(userId)
  // Not after the batch: its end may be near.
  await channel.arm(userId)
  const now = ctx.now()
  const isMove = sql`${isEndOpen(now)} AND ends_at IS ${found.endsAt} AND ends_at IS NOT ${endsAt}`
  await writeBatch(ctx.db, [
    runEventQuery(ctx, id, { what: endChange(endsAt), detail: toIso(endsAt), by }, isMove),
    dropOldQuery(ctx, id, ['end_set', 'end_moved', 'end_removed']),
    ctx.db.run(
      sql`UPDATE server_sessions SET ends_at = ${endsAt}, ends_set_at = ${now}, plan_ends = 0, idle_ends = 0, own_ends_at = NULL WHERE id = ${id} AND ${isMove}`,
    ),
  ])
  const run = await read(ctx, id)
  if (run.endsAt !== endsAt)
    throw canMoveEnd(run, now) ? new AppError('conflict', END_MOVED) : new AppError('not_running', STOPPED)
  ctx.background(Promise.all([channel.tellServer('server.updated', toServer(run, ctx.config)), channel.wake(userId)]))
  return run
}

function dropOldQuery(ctx: Context, runId: string, kinds: RunEventKind[]): Query {
  const ofKind = and(eq(runEvents.runId, runId), inArray(runEvents.what, kinds))
  const kept = ctx.db
    .select({ id: runEvents.id })
    .from(runEvents)
    .where(ofKind)
    .orderBy(desc(runEvents.at), sql`rowid DESC`)
    .limit(KEPT_CHANGES)
  return ctx.db.delete(runEvents).where(and(ofKind, notInArray(runEvents.id, kept)))
}

async function read(ctx: Context, id: string): Promise<RunRow> {
  const [run] = await ctx.db.select().from(runs).where(eq(runs.id, id))
  if (!run) throw new AppError('not_found', 'Server session not found.')
  return run
}

/** A smaller plan's end holds. A trial's needs no check: a run ends at the earlier of its two ends. */
function requireWithinPlan(run: RunRow, endsAt: number | null): void {
  if (run.planEnds && (endsAt ?? Infinity) > (run.endsAt ?? 0))
    throw new AppError('invalid', PAST_PLAN, { field: 'ends_at', page: '/subscriptions' })
}

export function canMoveEnd({ stopRequestedAt, endedAt, endsAt, mustStopAt }: RunRow, now: number): boolean {
  return stopRequestedAt === null && endedAt === null && (endsAt ?? Infinity) > now && (mustStopAt ?? Infinity) > now
}

/** The same in SQL: an end that has come can't be undone. */
function isEndOpen(now: number): SQL {
  return sql`stop_requested_at IS NULL AND ended_at IS NULL AND (ends_at IS NULL OR ends_at > ${now})
    AND (must_stop_at IS NULL OR must_stop_at > ${now})`
}

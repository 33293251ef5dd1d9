import { and, eq, sql } from 'drizzle-orm'
import { type RunRow, runs } from '../../../db/schema/fleet.ts'
import { plainText } from '../../domain/ansi.ts'
import { AppError } from '../../domain/error.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/instant.ts'
import { LOG_DAYS, type LogLine, type LogPart, logText } from '../../domain/run-log.ts'
import type { Context } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'

/** `until`: its end, or now. */
export type OwnRun = { id: string; isOver: boolean; isGone: boolean; until: number }

/** One of the user's runs: whether it is over, and whether its log has been deleted by age. @throws not_found */
export async function getOwnRun(ctx: Context, userId: string, id: string): Promise<OwnRun> {
  const [run] = await ctx.db
    .select({ endedAt: runs.endedAt })
    .from(runs)
    .where(and(eq(runs.id, id), eq(runs.userId, userId)))
  if (!run) throw new AppError('not_found', 'Server session not found.')
  return toOwnRun(ctx, id, run.endedAt)
}

export function toOwnRun(ctx: Context, id: string, endedAt: number | null): OwnRun {
  const isGone = endedAt !== null && endedAt + LOG_DAYS * DAY_MS <= ctx.now()
  return { id, isOver: endedAt !== null, isGone, until: endedAt ?? ctx.now() }
}

/** At most 1,000 lines that follow `after`. */
export async function readLog(ctx: Context, { id, isOver, isGone }: OwnRun, after: number): Promise<LogPart> {
  return isGone ? { lines: [], next: after, complete: true } : ctx.runLog(id).read(after, isOver)
}

/** Its last lines; null if it doesn't answer, since callers can do without. */
export async function findLastLines(ctx: Context, runId: string, count: number): Promise<LogLine[] | null> {
  return ctx
    .runLog(runId)
    .tail(count)
    .catch((error) => {
      ctx.log('log_not_read', { runId }, error)
      return null
    })
}

/** In an email: the database keeps it until it's sent. */
const WORDS = { lines: 20, characters: 300 }

/** The last output of a program that never answered, ready for its user's eyes. */
export async function lastWords(ctx: Context, { id, instanceId, billedFrom }: RunRow): Promise<string[]> {
  if (instanceId === null || billedFrom !== null) return []
  const lines = (await findLastLines(ctx, id, WORDS.lines)) ?? []
  // Half an emoji is no text: the database would refuse the whole batch that ends the run.
  return lines.map(({ text }) => [...plainText(text)].slice(0, WORDS.characters).join(''))
}

/** The log as it is now, in parts, however slowly they are read. Lines that arrive in the meantime aren't in it. */
export async function readSoFar(ctx: Context, run: OwnRun): Promise<AsyncGenerator<LogLine[]>> {
  const [last] = run.isOver ? [] : await ctx.runLog(run.id).tail(1)
  return partsOf(ctx, run, run.isOver ? Number.POSITIVE_INFINITY : (last?.n ?? 0))
}

async function* partsOf(ctx: Context, run: OwnRun, last: number): AsyncGenerator<LogLine[]> {
  let at = 0
  while (at < last) {
    const { lines, next } = await readLog(ctx, run, at)
    const kept = lines.filter(({ n }) => n <= last)
    if (!kept.length) return
    yield kept
    at = next
  }
}

/** The same as plain text. */
export async function* textSoFar(ctx: Context, run: OwnRun): AsyncGenerator<string> {
  for await (const lines of await readSoFar(ctx, run)) yield logText(lines)
}

/** The run's machine is gone: its log is complete. */
export async function endLog(ctx: Context, runId: string): Promise<void> {
  // A log that doesn't answer must not delay a server's end. The log is deleted 30 days later in any case.
  await ctx
    .runLog(runId)
    .end(ctx.now())
    .catch((error) => ctx.log('log_not_ended', { runId }, error))
}

const CLOSED_MS = 15 * MINUTE_MS
const MOST_AT_ONCE = 200

/**
 * Deletes the logs of accounts closed in the last minutes, whose last server may still be sending. Run by cron each
 * minute. Logs that it misses are deleted by age.
 */
export async function deleteLogsOfClosed(ctx: Context): Promise<void> {
  const now = ctx.now()
  const kept = await ctx.db.all<{ id: string }>(sql`SELECT r.id FROM users u JOIN server_sessions r ON r.user_id = u.id
    WHERE u.closed_at > ${now - CLOSED_MS} AND (r.ended_at IS NULL OR r.ended_at > ${now - LOG_DAYS * DAY_MS})
    ORDER BY r.requested_at DESC LIMIT ${MOST_AT_ONCE}`)
  await fourAtOnce(kept, ({ id }) => ctx.runLog(id).clear('everything'))
}

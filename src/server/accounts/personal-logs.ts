import { and, eq, isNull } from 'drizzle-orm'
import { runs } from '../../../db/schema/fleet.ts'
import { DAY_MS } from '../../domain/instant.ts'
import { LOG_DAYS } from '../../domain/run-log.ts'
import type { User } from '../../domain/wire/accounts.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { readSoFar, toOwnRun } from '../fleet/run-log.ts'
import type { Context } from '../runtime/context.ts'
import { runLists } from './personal-runs.ts'

/** Each log takes several calls, and a Worker may make only so many. Older ones are at /servers/:id/log.txt. */
const MOST_LOGS = 100

/**
 * A person's data as JSON text, with what grows with every run, and the logs of their latest servers at its end: up to
 * 5 MB each. All of it is read as fast as the download takes it.
 */
export async function* textWithLogs(ctx: Context, user: User, data: object): AsyncGenerator<string> {
  const since = ctx.now() - LOG_DAYS * DAY_MS
  // What a server prints after this moment isn't in it. Ended servers print nothing more.
  const live = new Map<string, Parts>()
  const running = await ctx.db
    .select({ id: runs.id })
    .from(runs)
    .where(and(eq(runs.userId, user.id), isNull(runs.endedAt)))
  for (const { id } of running) live.set(id, await partsOf(ctx, id, null))
  yield JSON.stringify(data).slice(0, -1)
  const { servers, ...others } = runLists(ctx, user)
  let latest: Server[] = []
  yield* listText('servers', servers, (some) => {
    const kept = some.filter(({ end_time }) => end_time === null || Date.parse(end_time) > since)
    latest = [...latest, ...kept].slice(-MOST_LOGS)
  })
  for (const [name, pieces] of Object.entries(others)) yield* listText<unknown>(name, pieces)
  yield ',"logs":['
  let isFirst = true
  for (const { id, end_time } of latest) {
    const lines = linesOf(ctx, id, live.get(id) ?? (await partsOf(ctx, id, end_time)))
    const first = await lines.next()
    if (first.done) continue
    yield `${isFirst ? '' : ','}{"server":${JSON.stringify(id)},"lines":[${first.value}`
    for await (const more of lines) yield `,${more}`
    yield ']}'
    isFirst = false
  }
  yield ']}'
}

/** A field with a list. @param see gets each piece */
async function* listText<Row>(
  name: string,
  pieces: AsyncIterable<Row[]>,
  see: (rows: Row[]) => void = () => {},
): AsyncGenerator<string> {
  yield `,"${name}":[`
  let isFirst = true
  for await (const rows of pieces) {
    see(rows)
    yield (isFirst ? '' : ',') + rows.map((row) => JSON.stringify(row)).join()
    isFirst = false
  }
  yield ']'
}

type Parts = Awaited<ReturnType<typeof readSoFar>> | null

/** One that can't be read is left out, or ends early: the rest of a person's data matters more. */
async function partsOf(ctx: Context, id: string, endTime: string | null): Promise<Parts> {
  try {
    return await readSoFar(ctx, toOwnRun(ctx, id, endTime === null ? null : Date.parse(endTime)))
  } catch (error) {
    ctx.log('log_not_read', { runId: id }, error)
    return null
  }
}

async function* linesOf(ctx: Context, id: string, parts: Parts): AsyncGenerator<string> {
  try {
    for await (const lines of parts ?? []) yield lines.map((line) => JSON.stringify(line)).join()
  } catch (error) {
    ctx.log('log_not_read', { runId: id }, error)
  }
}

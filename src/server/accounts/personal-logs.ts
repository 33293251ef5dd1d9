import { DAY_MS } from '../../domain/instant.ts'
import { LOG_DAYS } from '../../domain/run-log.ts'
import type { Server } from '../../domain/wire.ts'
import { readSoFar, toOwnRun } from '../fleet/run-log.ts'
import type { Context } from '../runtime/context.ts'

/** Each log takes several calls, and a Worker may make only so many. Older ones are at /servers/:id/log.txt. */
const MOST_LOGS = 100

/**
 * A person's data as JSON text, and the logs of their latest servers at its end: up to 5 MB each, read as fast as the
 * download takes them.
 */
export async function* textWithLogs(ctx: Context, data: { servers: Server[] }): AsyncGenerator<string> {
  const since = ctx.now() - LOG_DAYS * DAY_MS
  const kept = data.servers.filter(({ end_time }) => end_time === null || Date.parse(end_time) > since)
  const latest = kept.slice(-MOST_LOGS)
  // What a server prints after this moment isn't in it. Ended servers print nothing more.
  const live = new Map<string, Parts>()
  for (const { id, end_time } of latest) if (end_time === null) live.set(id, await partsOf(ctx, id, null))
  yield `${JSON.stringify(data).slice(0, -1)},"logs":[`
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

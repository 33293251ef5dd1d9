import { DAY_MS } from '../../domain/instant.ts'
import { LOG_DAYS } from '../../domain/run-log.ts'
import type { Server } from '../../domain/wire.ts'
import { readLog, toOwnRun } from '../fleet/run-log.ts'
import type { Context } from '../runtime/context.ts'

/** Each log takes calls of its own, and a Worker may make only so many. Older ones are at /servers/:id/log.txt. */
const MOST_LOGS = 100

/**
 * A person's data as JSON text, and the logs of their latest servers at its end: up to 5 MB each, read as fast as the
 * download takes them.
 */
export function streamWithLogs(ctx: Context, data: { servers: Server[] }): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const pieces = textOf(ctx, data)
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
  })
}

async function* textOf(ctx: Context, data: { servers: Server[] }): AsyncGenerator<string> {
  const since = ctx.now() - LOG_DAYS * DAY_MS
  const kept = data.servers.filter(({ end_time }) => end_time === null || Date.parse(end_time) > since)
  yield `${JSON.stringify(data).slice(0, -1)},"logs":[`
  let isFirst = true
  for (const { id, end_time } of kept.slice(-MOST_LOGS)) {
    const lines = linesOf(ctx, id, end_time)
    const first = await lines.next()
    if (first.done) continue
    yield `${isFirst ? '' : ','}{"server":${JSON.stringify(id)},"lines":[${first.value}`
    for await (const more of lines) yield `,${more}`
    yield ']}'
    isFirst = false
  }
  yield ']}'
}

/** One that can't be read is left out, or ends early: the rest of a person's data matters more. */
async function* linesOf(ctx: Context, id: string, endTime: string | null): AsyncGenerator<string> {
  const run = toOwnRun(ctx, id, endTime === null ? null : Date.parse(endTime))
  let after = 0
  try {
    for (;;) {
      const { lines, next } = await readLog(ctx, run, after)
      if (!lines.length) return
      yield lines.map((line) => JSON.stringify(line)).join()
      after = next
    }
  } catch (error) {
    ctx.log('log_not_read', { runId: id }, error)
  }
}

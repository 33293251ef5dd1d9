import type { Context as HonoContext } from 'hono'
import { parseAccept } from 'hono/utils/accept'
import * as z from 'zod/mini'
import { AppError } from '../../../../domain/error.ts'
import { HOUR_MS } from '../../../../domain/instant.ts'
import { getOwnRun, type OwnRun, readLog, textSoFar } from '../../../fleet/run-log.ts'
import { readMetrics, toMetrics } from '../../../fleet/run-metrics.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { answer } from '../../../http/reply.ts'

type C = HonoContext<AppEnv>

const PLAIN = 'text/plain; charset=utf-8'

/** A page as JSON, all of it as text, or the lines as they arrive: the one that the caller accepts first. */
export async function read(c: C, id: string): Promise<Response> {
  const run = await getOwnRun(c.var.ctx, signedIn(c).user.id, id)
  const kind = wantedKind(c.req.header('Accept') ?? '')
  c.header('Cache-Control', 'no-store')
  c.header('Vary', 'Accept')
  if (kind === 'text/plain') return c.body(await textOf(c, run), 200, { 'Content-Type': PLAIN })
  // A HEAD request reads no lines.
  const isStream = kind === 'text/event-stream' && c.req.method === 'GET'
  const after = lineNumber((isStream && c.req.header('Last-Event-ID')) || c.req.query('after'))
  return isStream ? follow(c, run, after) : c.json(await readLog(c.var.ctx, run, after))
}

async function textOf(c: C, run: OwnRun): Promise<ReadableStream<Uint8Array>> {
  const { whileSignedIn } = await import('../../../door/while-signed-in.ts')
  return whileSignedIn(c, textSoFar(c.var.ctx, run))
}

export async function download(c: C, id: string): Promise<Response> {
  const run = await getOwnRun(c.var.ctx, signedIn(c).user.id, id)
  const headers = { 'Content-Type': PLAIN, 'Content-Disposition': `attachment; filename="${run.id}.txt"` }
  return c.body(await textOf(c, run), 200, headers)
}

export async function remove(c: C, id: string): Promise<Response> {
  const run = await getOwnRun(c.var.ctx, signedIn(c).user.id, id)
  await c.var.ctx.runLog(run.id).clear('lines')
  return answer(c, { message: run.isOver ? 'Log deleted.' : 'Log deleted. New lines are kept.' })
}

/** How busy the run's machine is. */
export async function readMetricsOf(c: C, id: string): Promise<Response> {
  const { ctx } = c.var
  const run = await getOwnRun(ctx, signedIn(c).user.id, id)
  const given = c.req.query('since')
  const since = given === undefined ? ctx.now() - HOUR_MS : instant(given)
  c.header('Cache-Control', 'no-store')
  return c.json(toMetrics(await readMetrics(ctx, run, since)))
}

/** @throws invalid */
function instant(given: string): number {
  if (z.iso.datetime({ offset: true }).safeParse(given).success) return Date.parse(given)
  throw new AppError('invalid', "'since' must be a time such as 2026-03-01T12:00:00Z.")
}

const KINDS = ['text/event-stream', 'text/plain', 'application/json']

/** The one that the caller prefers. */
function wantedKind(accept: string): string | undefined {
  const types = parseAccept(accept.toLowerCase()).filter(({ q }) => q > 0)
  return types.find(({ type }) => KINDS.includes(type))?.type
}

/** @throws invalid */
function lineNumber(given: string | undefined): number {
  const after = Number(given ?? 0)
  if (!/^\d{0,15}$/.test(given ?? '')) throw new AppError('invalid', "'after' must be the number of a line.")
  return after
}

/** Sends lines until the log is complete, or the reader loses access. */
async function follow(c: C, run: OwnRun, after: number): Promise<Response> {
  const { user, id, scope } = signedIn(c)
  const { complete, lines } = await readLog(c.var.ctx, run, after)
  // An EventSource doesn't come back after that.
  if (complete && !lines.length && c.req.header('Last-Event-ID') !== undefined) return c.body(null, 204)
  const [{ hold }, { followLog }] = await Promise.all([
    import('../../../door/hold.ts'),
    import('../../../fleet/follow-log.ts'),
  ])
  const pass = { kind: scope === null ? 'sign_in' : 'token', id } as const
  const holding = hold(() => c.env.DOOR_KEEPER.getByName(user.id), { runId: run.id, pass, what: 'log' })
  if (!(await holding.isHeld)) throw tooMany("You're already following 20 logs.")
  const body = await followLog(c.env.RUN_LOG.getByName(run.id), { after, isOver: run.isOver }, holding)
  if (!body) throw tooMany('5 readers are already following this log.')
  return c.body(body, 200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
}

const tooMany = (sentence: string) =>
  new AppError('too_many', `${sentence} Close one, or try again in a minute.`, { retryAfter: 60 })

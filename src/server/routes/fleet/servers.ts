import { Hono, type Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { AppError } from '../../../domain/error.ts'
import { type RunParameters, writeParameters } from '../../../domain/parameters.ts'
import { runWishes, secretFields } from '../../../domain/run-wishes.ts'
import { toAllowance } from '../../billing/allowance.ts'
import { countUsage } from '../../billing/bills/usage.ts'
import { checkServerAddress } from '../../fleet/addresses.ts'
import { findAvailability } from '../../fleet/availability.ts'
import { firstAnswer } from '../../fleet/repeats.ts'
import { requestMoreServers } from '../../fleet/server-requests.ts'
import { startRun } from '../../fleet/start-run.ts'
import { stopRun } from '../../fleet/stop-run.ts'
import { toServer } from '../../fleet/wire.ts'
import { toWorlds } from '../../fleet/worlds.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { signedIn } from '../../http/app-env.ts'
import { body, checkedNames, command, optionalNumber, optionalText, parameters, text } from '../../http/body.ts'
import { errorResponse } from '../../http/error-response.ts'
import { repeatableOf } from '../../http/repeatable.ts'
import { answer } from '../../http/reply.ts'
import { readAlong } from '../../http/site-map.ts'
import { valid } from '../../http/valid.ts'
import type { Context } from '../../runtime/context.ts'
import { requireValid } from '../../runtime/form-rules.ts'

/** What both starts take. A `code` makes its user one of a group that places are held back for. */
const wishes = {
  name: text,
  stop_after: optionalNumber,
  environment: text,
  vehicle: text,
  code: text,
  parameters,
  until: text,
  command,
  secrets: checkedNames,
}
/** What the start in a given place takes. */
const autoWishes = { ...wishes, max_gpus: optionalNumber }

/** Loaded when needed: groups are rare. */
const enterCode = async (ctx: Context, userId: string, code: string) =>
  (await import('../../fleet/line/group-code.ts')).enterGroupCode(ctx, userId, code)

/** Whether a plain form was refused for what the page about the line can help with: a code, or all places are taken. */
function isOfTheLine(c: HonoContext<AppEnv>, error: unknown): boolean {
  const isItsMatter = error instanceof AppError && (error.field === 'code' || error.code === 'no_capacity')
  return isItsMatter && c.var.form !== null && c.var.ctx.config.line
}

type LineWishes = Record<'name' | 'stop_after' | 'environment' | 'vehicle' | 'until', string | number | null> & {
  parameters: RunParameters
  secrets: string[]
  command: string[] | null
}

/** That page, with what they chose. */
function lineOf({ name, stop_after, environment, vehicle, parameters, secrets, until, command }: LineWishes): string {
  const search = new URLSearchParams()
  const program = { parameters: writeParameters(parameters), until, command: command && JSON.stringify(command) }
  const all = { name, stop_after, environment, vehicle, ...program, ...secretFields(secrets) }
  for (const [key, value] of Object.entries(all)) if (value) search.set(key, `${value}`)
  // Without one, the page would take their last choice.
  if (!stop_after) search.set('stop_after', '')
  return `/line?${search}`
}

/** Servers and their sessions for the dashboard, whose buttons submit a plain form until the island hydrates. */
export const servers = new Hono<AppEnv>()
  .get('/api/v1/servers/get_servers', (c) => {
    const [rows] = readAlong(c, 'GET /api/v1/servers/get_servers')
    return c.json({ servers: rows.map((row) => toServer(row, c.var.ctx.config)) })
  })
  .get('/api/v1/aws/server_available', async (c) => {
    const { ctx } = c.var
    const [history, rows] = readAlong(c, 'GET /api/v1/aws/server_available')
    return c.json(await findAvailability(ctx, signedIn(c).user.id, toAllowance(countUsage(history, rows, ctx.now()))))
  })
  .get('/api/v1/environments', (c) => {
    const [catalog, history, rows] = readAlong(c, 'GET /api/v1/environments')
    const { plan } = toAllowance(countUsage(history, rows, c.var.ctx.now()))
    return c.json(toWorlds(catalog, plan))
  })
  .post('/api/v1/aws/auto_cloud_start_request', body(z.object(autoWishes), { optional: true }), async (c) => {
    try {
      const { code, ...rest } = c.req.valid('json')
      const wanted = requireValid(runWishes, rest)
      const repeat = await repeatableOf(c)
      if (code) await enterCode(c.var.ctx, signedIn(c).user.id, code)
      const { run, job } = await startRun(c.var.ctx, signedIn(c), null, repeat, wanted)
      const body = { server: toServer(run, c.var.ctx.config), job_id: job.id, errors: [] }
      return answer(c, await firstAnswer(c.var.ctx, repeat, body), { status: 202 })
    } catch (error) {
      const refused = errorResponse(error, c, { server: null, job_id: null })
      return isOfTheLine(c, error) ? c.redirect(lineOf(c.req.valid('json')), 303) : refused
    }
  })
  .post('/api/v1/aws/start', valid(z.object({ server_id: z.string(), ...wishes })), async (c) => {
    const { server_id, code, ...rest } = c.req.valid('json')
    const wanted = requireValid(runWishes, { ...rest, max_gpus: null })
    const repeat = await repeatableOf(c)
    if (code) await enterCode(c.var.ctx, signedIn(c).user.id, code)
    const { job } = await startRun(c.var.ctx, signedIn(c), server_id, repeat, wanted)
    return c.json(await firstAnswer(c.var.ctx, repeat, { job_id: job.id }), 202)
  })
  .post('/api/v1/aws/stop_server', body(z.object({ server_id: z.string(), session_id: z.string() })), async (c) => {
    const { server_id, session_id } = c.req.valid('json')
    const repeat = await repeatableOf(c)
    const wanted = { placeId: server_id, runId: session_id }
    const { run, job } = await stopRun(c.var.ctx, signedIn(c).user.id, wanted, repeat)
    const body = { job_id: job.id, server: toServer(run, c.var.ctx.config) }
    return answer(c, await firstAnswer(c.var.ctx, repeat, body), { status: 202 })
  })
  .put('/api/v1/servers/:id', body(z.object({ ends_at: optionalText, name: optionalText })), async (c) => {
    const { ctx } = c.var
    const { changeRun } = await import('../../fleet/change-run.ts')
    const run = await changeRun(ctx, signedIn(c), c.req.param('id'), c.req.valid('json'))
    return answer(c, { server: toServer(run, c.var.ctx.config), message: 'Saved.' })
  })
  .post('/api/v1/aws/check_server_ip_status', valid(z.object({ ip_address: z.string() })), async (c) =>
    c.json(await checkServerAddress(c.var.ctx, signedIn(c).user.id, c.req.valid('json').ip_address)),
  )
  .post('/api/servers/request_more', async (c) => {
    await requestMoreServers(c.var.ctx, signedIn(c).user)
    return c.json({ message: 'Thanks! We received your request for more servers.' }, 202)
  })

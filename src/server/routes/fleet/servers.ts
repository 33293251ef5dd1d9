import type { Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { AppError, type RefusalCode } from '../../../domain/error.ts'
import { type RunParameters, writeParameters } from '../../../domain/parameters.ts'
import { MAX_GPUS, NOTHING_WISHED, runWishes, secretFields } from '../../../domain/run-wishes.ts'
import { message } from '../../../domain/wire/answers.ts'
import * as shape from '../../../domain/wire/fleet.ts'
import { toAllowance } from '../../billing/allowance.ts'
import { countUsage, usageQueries } from '../../billing/bills/usage.ts'
import { checkServerAddress } from '../../fleet/addresses.ts'
import { findAvailability } from '../../fleet/availability.ts'
import { firstAnswer } from '../../fleet/repeats.ts'
import { runsQuery } from '../../fleet/run-list.ts'
import { startRun } from '../../fleet/start-run.ts'
import { stopRun } from '../../fleet/stop-run.ts'
import { toServer } from '../../fleet/wire.ts'
import { catalogQuery, toWorlds } from '../../fleet/worlds.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { signedIn } from '../../http/app-env.ts'
import { errorResponse } from '../../http/error-response.ts'
import { checkedNames, command, optionalNumber, parameters, text } from '../../http/fields.ts'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'
import type { Context } from '../../runtime/context.ts'
import { requireValid } from '../../runtime/form-rules.ts'
import { repeatableOf } from './repeatable.ts'

/** What both starts take. A `code` adds its user to a group that places are held back for. */
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

/** Whether a plain form was refused for something that the page about the line can help with: a code, or no free place. */
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

/** Why a start, or waiting for one, may be refused. */
export const MAY_NOT_START: readonly RefusalCode[] = [
  'no_minutes',
  'suspended',
  'plan_unpaid',
  'no_plan',
  'budget',
  'held',
  'has_server',
  'stopping',
  'conflict',
  'invalid',
  'not_offered',
]

/** Servers and their sessions for the dashboard, whose buttons submit a plain form until the island hydrates. */
export const servers = [
  route('GET /api/v1/servers/get_servers', {
    access: 'user',
    scope: 'read',
    reads: (ctx, userId) => [runsQuery(ctx, userId)] as const,
    byItself: true,
    summary: 'List your latest servers, newest first',
    description: 'The latest 100.',
    answers: [200, z.object({ servers: z.array(shape.server) })],
  }).answer((c, [rows]) => {
    return c.json({ servers: rows.map((row) => toServer(row, c.var.ctx.config)) })
  }),
  route('GET /api/v1/aws/server_available', {
    access: 'user',
    scope: 'read',
    reads: usageQueries,
    byItself: true,
    summary: 'See which servers are free, and how long a start usually takes',
    description: [
      "At most 100 places that your plan allows, including free ones if there are any; `reason` says why one isn't available (`Reserved`, `Out of capacity`).",
      '`ready_in_seconds` `{p50, p90}` is [how long a start usually takes](#how-long-a-start-takes).',
      "The parameters are the same as a start's, all optional.",
    ],
    query: {
      environment: 'What it would start. Without it: your last choice, or the first one',
      max_gpus: {
        description: 'The most GPUs that it may have',
        schema: { type: 'integer', minimum: 1, maximum: MAX_GPUS },
      },
      until: { description: 'Whether it would end with its program', schema: { type: 'string', enum: ['exit'] } },
    },
    answers: [200, shape.availability],
    refuses: ['invalid', 'unavailable'],
  }).answer(async (c, [history, rows]) => {
    const { ctx } = c.var
    const { environment = '', until = '', max_gpus } = c.req.query()
    const wished = { ...NOTHING_WISHED, environment, until, max_gpus: max_gpus ? Number(max_gpus) : null }
    const allowance = toAllowance(countUsage(history, rows, ctx.now()))
    return c.json(await findAvailability(ctx, signedIn(c).user.id, allowance, requireValid(runWishes, wished)))
  }),
  route('GET /api/v1/environments', {
    access: 'user',
    scope: 'read',
    reads: (ctx, userId) => [catalogQuery(ctx, userId), ...usageQueries(ctx, userId)] as const,
    summary: 'List what a server can simulate',
    description: 'With the plans that include each, and whether yours does.',
    answers: [200, shape.worlds],
  }).answer((c, [catalog, history, rows]) => {
    const { plan } = toAllowance(countUsage(history, rows, c.var.ctx.now()))
    return c.json(toWorlds(catalog, plan))
  }),
  route('POST /api/v1/aws/auto_cloud_start_request', {
    access: 'user',
    scope: 'operate',
    takes: z.object(autoWishes),
    mayBeEmpty: true,
    summary: 'Start a server in any free place',
    description: [
      'All fields are optional.',
      'It takes the largest free machine of your plan, or of at most `max_gpus` GPUs.',
      'Without an `environment` or `vehicle`, it takes your last choice, or the first one that your plan includes.',
      "One that your plan doesn't include, or that doesn't exist, is a 422.",
      '`name` has at most 50 characters.',
      '`stop_after` is 60 to 2592000 seconds from the request; `ends_at` says when that is.',
      '`parameters` `{NAME: "value"}` become variables of the container\'s environment: at most 32 and 4 KB of UTF-8 in all, names of up to 64 capital letters, digits, and underscores that begin with a letter, no line breaks.',
      '`PATH`, `HOME`, `ENVIRONMENT`, `VEHICLE`, `LD_*`, `NVIDIA_*`, `CUDA_*`, and `DOCKER_*` are 422, and so are names that make programs run code (`PYTHONPATH`, `NODE_OPTIONS`, `BASH_ENV`, and the like) unless the image is your own; a form sends `NAME=value`, one per line.',
      '`secrets` `["NAME"]` names the account\'s secrets that a container of your own image also gets as variables.',
      "One that doesn't exist, or is a parameter, and any for an environment of the catalog, is a 422.",
      'A form sends `secrets[NAME]`.',
      '`until` `"exit"` ends the run [with its program](#runs-that-end), and `command` `["…"]` starts that.',
      "`code` is a [group's](#groups).",
      'With 503 `no_capacity`, no server is free.',
    ],
    answers: [
      202,
      z.object({ server: shape.server, job_id: z.string(), errors: z.array(z.string()).check(z.maxLength(0)) }),
    ],
    refuses: [...MAY_NOT_START, 'no_capacity', 'too_many'],
    repeatable: true,
  }).answer(async (c) => {
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
  }),
  route('POST /api/v1/aws/start', {
    access: 'user',
    scope: 'operate',
    takes: z.object({ server_id: z.string(), ...wishes }),
    onlyJson: true,
    summary: 'Start a server in a given place',
    description: 'Its fields mean the same as those of `POST /api/v1/aws/auto_cloud_start_request`.',
    answers: [202, z.object({ job_id: z.string() })],
    refuses: [...MAY_NOT_START, 'not_found', 'no_capacity', 'too_many'],
    when: { 404: 'also for a server larger than the plan allows' },
    repeatable: true,
  }).answer(async (c) => {
    const { server_id, code, ...rest } = c.req.valid('json')
    const wanted = requireValid(runWishes, { ...rest, max_gpus: null })
    const repeat = await repeatableOf(c)
    if (code) await enterCode(c.var.ctx, signedIn(c).user.id, code)
    const { job } = await startRun(c.var.ctx, signedIn(c), server_id, repeat, wanted)
    return c.json(await firstAnswer(c.var.ctx, repeat, { job_id: job.id }), 202)
  }),
  route('POST /api/v1/aws/stop_server', {
    access: 'user',
    scope: 'operate',
    takes: z.object({ server_id: z.string(), session_id: z.string() }),
    summary: 'Stop a server',
    description: 'You get the same job again while it is stopping.',
    answers: [202, z.object({ job_id: z.string(), server: shape.server })],
    refuses: ['not_found', 'not_running', 'invalid'],
    when: { 409: 'already stopped' },
    repeatable: true,
  }).answer(async (c) => {
    const { server_id, session_id } = c.req.valid('json')
    const repeat = await repeatableOf(c)
    const wanted = { placeId: server_id, runId: session_id }
    const { run, job } = await stopRun(c.var.ctx, signedIn(c).user.id, wanted, repeat)
    const body = { job_id: job.id, server: toServer(run, c.var.ctx.config) }
    return answer(c, await firstAnswer(c.var.ctx, repeat, body), { status: 202 })
  }),
  route('POST /api/v1/aws/check_server_ip_status', {
    access: 'user',
    scope: 'read',
    byItself: true,
    takes: z.object({ ip_address: z.string() }),
    onlyJson: true,
    summary: 'See whether your server answers',
    description: '`status` is `reachable` or `unreachable`.',
    answers: [200, z.object({ status: z.enum(['reachable', 'unreachable']), code: z.nullable(z.string()) })],
    refuses: ['not_found'],
    when: { 404: 'for any address except that of your own running server' },
  }).answer(async (c) =>
    c.json(await checkServerAddress(c.var.ctx, signedIn(c).user.id, c.req.valid('json').ip_address)),
  ),
  route('POST /api/servers/request_more', {
    access: 'user',
    scope: 'operate',
    summary: 'Request more servers',
    answers: [202, message],
    when: { 429: 'once an hour' },
  }).answer(async (c) => {
    // Loaded when needed: most isolates never see such a request.
    const { requestMoreServers } = await import('../../fleet/server-requests.ts')
    await requestMoreServers(c.var.ctx, signedIn(c).user)
    return c.json({ message: 'Thanks! We received your request for more servers.' }, 202)
  }),
]

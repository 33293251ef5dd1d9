import type { Context as HonoContext } from 'hono'
import { AppError } from '../../../../domain/error.ts'
import { writeParameters } from '../../../../domain/parameters.ts'
import { type RunWishes, runWishes, secretFields } from '../../../../domain/run-wishes.ts'
import { Line } from '../../../../pages/Line.tsx'
import { joinLine, leaveLine } from '../../../fleet/line/join.ts'
import { linePageQueries, toLinePage } from '../../../fleet/line/page.ts'
import { findLinePlace } from '../../../fleet/line/show.ts'
import { type AppEnv, signedIn } from '../../../http/app-env.ts'
import { takeFlash } from '../../../http/flash.ts'
import { csrfToken } from '../../../http/middleware/csrf.ts'
import { renderPage } from '../../../http/render.tsx'
import { answer } from '../../../http/reply.ts'
import { requireValid } from '../../../runtime/form-rules.ts'

const WISHES = ['environment', 'vehicle', 'name', 'stop_after', 'parameters', 'until', 'command']
const SECRET = /^secrets\[[A-Z0-9_]+\]$/

type Call = HonoContext<AppEnv>
type Input = { start: boolean } & Parameters<typeof requireValid<typeof runWishes>>[1]

/** @throws not_found where people can't wait in line */
function requireLine({ config }: Call['var']['ctx']): void {
  if (!config.line) throw new AppError('not_found', 'Unknown endpoint.')
}

export async function page(c: Call): Promise<Response> {
  const { ctx } = c.var
  requireLine(ctx)
  const { user } = signedIn(c)
  const { wishes, stopAfter, ...shown } = toLinePage(await ctx.db.batch([...linePageQueries(ctx, user.id)]), ctx.now())
  return renderPage(
    c,
    { title: 'Line', assets: 'line' },
    <Line
      {...shown}
      userId={user.id}
      csrfToken={csrfToken(c)}
      flash={takeFlash(c)}
      now={ctx.now()}
      chosen={wishes ? fieldsOf(wishes) : chosenOf(c, stopAfter)}
    />,
  )
}

/** People who have waited since before such programs existed have no such wishes. */
type Program = 'parameters' | 'secrets' | 'untilExit' | 'command'
type Waiting = Omit<RunWishes, Program> & Partial<Pick<RunWishes, Program>>

/** As a form sends them. */
function fieldsOf({ environment, vehicle, name, stopAfterMs, ...program }: Waiting): Record<string, string> {
  const { parameters = {}, secrets = [], untilExit, command } = program
  const all = {
    environment,
    vehicle,
    name,
    stop_after: stopAfterMs && `${stopAfterMs / 1000}`,
    parameters: writeParameters(parameters),
    until: untilExit && 'exit',
    command: command && JSON.stringify(command),
    ...secretFields(secrets),
  }
  return Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => !!pair[1]))
}

/** What the dashboard's link carries along. Without an end, not even `none`, the last choice counts. */
function chosenOf(c: Call, stopAfter: number | null): Record<string, string> {
  const given = Object.entries(c.req.query()).filter(([name]) => WISHES.includes(name) || SECRET.test(name))
  const all = { ...(stopAfter && { stop_after: `${stopAfter}` }), ...Object.fromEntries(given) }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value))
}

export async function show(c: Call): Promise<Response> {
  requireLine(c.var.ctx)
  return c.json({ line: await findLinePlace(c.var.ctx, signedIn(c).user.id) })
}

export async function join(c: Call, { start, ...input }: Input): Promise<Response> {
  requireLine(c.var.ctx)
  const line = await joinLine(c.var.ctx, signedIn(c), requireValid(runWishes, input), start)
  return answer(c, { line, message: 'You are in line.' }, { status: 201 })
}

export async function leave(c: Call): Promise<Response> {
  requireLine(c.var.ctx)
  await leaveLine(c.var.ctx, signedIn(c).user.id)
  return answer(c, { line: null, message: 'You left the line.' })
}

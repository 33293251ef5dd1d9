import type { Context as HonoContext } from 'hono'
import { type LoadError, loadError } from '../../../../domain/instance.ts'
import { pageInstances, parseInstanceView } from '../../../../domain/instance-view.ts'
import type { Instance } from '../../../../domain/wire/fleet.ts'
import { Console } from '../../../../pages/Console.tsx'
import { ConsoleMessages } from '../../../../pages/ConsoleMessages.tsx'
import { listInstances } from '../../../fleet/instances.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { logError, statusOf, toAppError } from '../../../http/error-response.ts'
import { renderPage } from '../../../http/render.tsx'
import { listMessages } from '../../../mail/messages.ts'
import { vendorErrorOf } from '../../../settings/log.ts'

type C = HonoContext<AppEnv>

/** The page waits no longer than this for the cloud: it shows the error and retries in the browser. */
const WAIT_MS = 4_000

export async function instances(c: C): Promise<Response> {
  const { instances, error } = await instancesOrError(c)
  const now = c.var.ctx.now()
  const view = parseInstanceView(new URL(c.req.url).searchParams)
  const shown = instances && pageInstances(instances, view, now)
  const seen = shown ? { ...view, page: shown.page } : view
  return renderPage(
    c,
    { title: 'Console', assets: 'admin' },
    <Console now={now} shown={shown} error={error} view={seen} />,
  )
}

/** All instances; or, with `X-Page`, one page of those that match the query, with the totals in a header. */
export async function instanceList(c: C): Promise<Response> {
  const all = await listInstances(c.var.ctx)
  const page = c.req.header('X-Page')
  if (!page) return c.json(all)
  const query = new URL(c.req.url).searchParams
  query.set('page', page)
  const { instances, ...about } = pageInstances(all, parseInstanceView(query), c.var.ctx.now())
  c.header('X-Instances', JSON.stringify(about))
  return c.json(instances)
}

export async function messages(c: C): Promise<Response> {
  const page = await listMessages(c.var.ctx, c.req.query('before') ?? null)
  return renderPage(c, { title: 'Messages', assets: 'admin' }, <ConsoleMessages {...page} />)
}

/** `instances` is null if unknown. */
async function instancesOrError(c: C): Promise<{ instances: Instance[] | null; error: LoadError | null }> {
  try {
    return { instances: await listInstances(c.var.ctx, WAIT_MS), error: null }
  } catch (thrown) {
    logError(thrown, c)
    const error = toAppError(thrown)
    return { instances: null, error: loadError(statusOf(error), error.message, vendorErrorOf(thrown)) }
  }
}

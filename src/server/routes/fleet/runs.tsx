import { Hono, type Context as HonoContext } from 'hono'
import { toIso } from '../../../domain/instant.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { siteOrigin } from '../../runtime/context.ts'
import { requireValid } from '../../runtime/form-rules.ts'

type C = HonoContext<AppEnv>

/** Everything a person ever ran: the list, one run, and both for programs. */
export const runs = new Hono<AppEnv>()
  .get('/api/v1/servers', async (c) => {
    const { servers, page, pages } = await readList(c, c.req.query())
    return c.json({ servers, page, pages })
  })
  .get('/api/v1/servers/:id', async (c) => {
    const [{ getRun }, { sumOfLines }] = await Promise.all([
      import('../../operations/run-page.ts'),
      import('../../../domain/money/run-cost.ts'),
    ])
    const { server, events, lines, provider } = await getRun(c.var.ctx, signedIn(c).user.id, c.req.param('id'))
    return c.json({ server, events, cost: sumOfLines(lines), provider })
  })
  .get('/servers', async (c) => {
    const [{ Runs }, { listQuery }] = await Promise.all([
      import('../../../pages/Runs.tsx'),
      import('../../../domain/run-list.ts'),
    ])
    const list = await readList(c, chosenIn(c))
    if (list.page > list.pages) return c.redirect(`/servers${listQuery(list.filter, list.pages)}`)
    return renderPage(c, { title: 'Servers', assets: 'runs' }, <Runs {...list} now={c.var.ctx.now()} />)
  })
  .get('/servers.csv', async (c) => {
    const { ctx } = c.var
    const [{ listAllRuns }, { runQuery, runsToCsv }] = await Promise.all([
      import('../../fleet/run-list.ts'),
      import('../../../domain/run-list.ts'),
    ])
    const { filter } = requireValid(runQuery, chosenIn(c))
    const servers = await listAllRuns(ctx, signedIn(c).user.id, filter)
    c.header('Content-Type', 'text/csv; charset=utf-8')
    c.header('Content-Disposition', 'attachment; filename="servers.csv"')
    return c.body(runsToCsv(servers, ctx.now(), siteOrigin(ctx)))
  })
  .get('/servers/:id', async (c) => {
    const { ctx } = c.var
    const [{ getRun }, { Run }, { findLastLines }, { findMachineUse }] = await Promise.all([
      import('../../operations/run-page.ts'),
      import('../../../pages/Run.tsx'),
      import('../../fleet/run-log.ts'),
      import('../../fleet/run-metrics.ts'),
    ])
    const found = await getRun(ctx, signedIn(c).user.id, c.req.param('id'))
    const [log, use] = await Promise.all([
      findLastLines(ctx, found.server.id, SHOWN_LINES),
      findMachineUse(ctx, found.server, c.req.query('last')),
    ])
    const form = { csrfToken: csrfToken(c), flash: takeFlash(c), asOf: toIso(ctx.now()) }
    return renderPage(
      c,
      { title: found.server.name ?? 'Server', assets: 'runs' },
      <Run {...found} {...form} log={log} use={use} />,
    )
  })

/** Of a log, before its script has read it. */
const SHOWN_LINES = 200

/** A form sends what nobody chose as nothing. */
const chosenIn = (c: C) => Object.fromEntries(Object.entries(c.req.query()).filter(([, value]) => value !== ''))

/** @throws invalid */
async function readList(c: C, query: Record<string, string>) {
  const [{ listRunPage }, { runQuery }] = await Promise.all([
    import('../../fleet/run-list.ts'),
    import('../../../domain/run-list.ts'),
  ])
  const { filter, page } = requireValid(runQuery, query)
  return { ...(await listRunPage(c.var.ctx, signedIn(c).user.id, filter, page)), filter }
}

import type { Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { toIso } from '../../../domain/instant.ts'
import { RUN_STATUSES } from '../../../domain/run-list.ts'
import * as shape from '../../../domain/wire/fleet.ts'
import { toServer } from '../../fleet/wire.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { optionalText } from '../../http/fields.ts'
import { takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'
import { siteOrigin } from '../../runtime/context.ts'
import { requireValid } from '../../runtime/form-rules.ts'

type C = HonoContext<AppEnv>

const filters = {
  q: {
    description: 'Part of a name, an ID, a machine, or a zone',
    schema: { type: 'string', maxLength: 100 },
  },
  month: {
    description: 'When they were requested: YYYY-MM, in UTC',
    schema: { type: 'string', pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' },
  },
  status: { description: 'What it is now', schema: { type: 'string', enum: RUN_STATUSES } },
}

/** Everything that a person ever ran: the list and single runs, each also for programs. */
export const runs = [
  route('GET /api/v1/servers', {
    access: 'user',
    scope: 'read',
    byItself: true,
    summary: 'List all your servers, newest first, 50 a page',
    description: [
      '`q` finds part of a name, an ID, a machine, a zone, an environment, or a parameter; `month` (`YYYY-MM`, in UTC) and `status` filter.',
      'A page beyond the last one is empty.',
    ],
    answers: [200, z.object({ servers: z.array(shape.server), page: z.int(), pages: z.int() })],
    query: {
      page: { description: 'Counts from 1', schema: { type: 'integer', minimum: 1, maximum: 999_999 } },
      ...filters,
    },
    refuses: ['invalid'],
    when: { 429: '1,000 in 15 minutes' },
  }).answer(async (c) => {
    const { servers, page, pages } = await readList(c, c.req.query())
    return c.json({ servers, page, pages })
  }),
  route('GET /api/v1/servers/:id', {
    access: 'user',
    scope: 'read',
    byItself: true,
    summary: 'Show one server: what happened, what it cost, and when EC2 ran it',
    answers: [200, shape.run],
    refuses: ['not_found'],
  }).answer(async (c) => {
    const [{ getRun }, { sumOfLines }] = await Promise.all([
      import('../../operations/run-page.ts'),
      import('../../../domain/money/run-cost.ts'),
    ])
    const { server, events, lines, provider } = await getRun(c.var.ctx, signedIn(c).user.id, c.req.param('id'))
    return c.json({ server, events, cost: sumOfLines(lines), provider })
  }),
  route('PUT /api/v1/servers/:id', {
    access: 'user',
    scope: 'operate',
    form: { at: '/dashboard', done: '/dashboard', back: true },
    takes: z.object({ ends_at: optionalText, name: optionalText }),
    summary: "Change a server's end or its name",
    description: [
      'Each field is optional.',
      '`ends_at` is when it stops, at most 30 days away; null: never.',
      'Without a zone, it is UTC.',
      '`name` null removes the name.',
      'Open pages learn of it on `/cable`.',
      'A trial still ends once its minutes are used up, if that comes first.',
    ],
    answers: [200, z.object({ server: shape.server, message: z.string() })],
    refuses: ['not_found', 'not_running', 'conflict', 'invalid'],
    when: {
      409: 'an end once it is stopping',
      422: "also for an end after a smaller plan's",
      429: '120 changes an hour',
    },
  }).answer(async (c) => {
    const { ctx } = c.var
    const { changeRun } = await import('../../fleet/change-run.ts')
    const run = await changeRun(ctx, signedIn(c), c.req.param('id'), c.req.valid('json'))
    return answer(c, { server: toServer(run, c.var.ctx.config), message: 'Saved.' })
  }),
  route('GET /servers', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) => {
    const [{ Runs }, { linkQuery }] = await Promise.all([
      import('../../../pages/Runs.tsx'),
      import('../../../domain/run-list.ts'),
    ])
    const list = await readList(c, chosenIn(c))
    if (list.page > list.pages) return c.redirect(`/servers${linkQuery(list.filter, list.pages)}`)
    return renderPage(c, { title: 'Servers', assets: 'runs' }, <Runs {...list} now={c.var.ctx.now()} />)
  }),
  route('GET /servers.csv', {
    access: 'user',
    kind: 'page',
    scope: 'read',
    file: true,
    description:
      "200: the list of `GET /api/v1/servers` as CSV, unpaged, with a link to each server's page. A month is part of the file's name.",
    query: filters,
    refuses: ['invalid'],
    when: { 429: 'sixty an hour' },
  }).answer(async (c) => {
    const { ctx } = c.var
    const [{ readRunsForFile }, { runQuery, runsToCsv }, { whileSignedIn }] = await Promise.all([
      import('../../fleet/run-list.ts'),
      import('../../../domain/run-list.ts'),
      import('../../door/while-signed-in.ts'),
    ])
    const { filter } = requireValid(runQuery, chosenIn(c))
    const servers = await readRunsForFile(ctx, signedIn(c).user.id, filter)
    c.header('Content-Type', 'text/csv; charset=utf-8')
    c.header(
      'Content-Disposition',
      `attachment; filename="${['proving-ground-servers', filter.month].filter(Boolean).join('-')}.csv"`,
    )
    return c.body(whileSignedIn(c, runsToCsv(servers, ctx.now(), siteOrigin(ctx))))
  }),
  // It counts seconds.
  route('GET /servers/:id', { access: 'user', kind: 'page' }).answer(async (c) => {
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
  }),
]

/** The log before its script has read it. */
const SHOWN_LINES = 200

/** A form sends an empty text if nothing was chosen. */
const chosenIn = (c: C) => Object.fromEntries(Object.entries(c.req.query()).filter(([, value]) => value !== ''))

/** @throws invalid, too_many */
async function readList(c: C, query: Record<string, string>) {
  const [{ listRunPage }, { runQuery }] = await Promise.all([
    import('../../fleet/run-list.ts'),
    import('../../../domain/run-list.ts'),
  ])
  const { filter, page } = requireValid(runQuery, query)
  return { ...(await listRunPage(c.var.ctx, signedIn(c).user.id, filter, page)), filter }
}

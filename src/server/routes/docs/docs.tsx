import type { Context as HonoContext } from 'hono'
import type { ReactNode } from 'react'
import type { ApiCall } from '../../../pages/docs/Api.tsx'
import type { TextName } from '../../../pages/texts.tsx'
import type { AppEnv } from '../../http/app-env.ts'
import { renderPage } from '../../http/render.tsx'
import { route } from '../../http/route.ts'
import { findText } from '../../http/texts.tsx'
import { siteOrigin } from '../../runtime/context.ts'
import { apiDocument } from './openapi.ts'

/** The pages' titles and descriptions, for search engines and /llms.txt. */
const DOCS = {
  '/docs': [
    'Quickstart',
    'Your first GPU simulation server in five minutes: in the browser, with curl, on the command line, or in your CI.',
  ],
  '/docs/api': [
    'API',
    'Every call of the Proving Ground API, with curl and answers: start, follow, and stop simulation servers from your code.',
  ],
  '/docs/events': [
    'Events',
    'Hear about every change to your servers at once: over the cable while your program runs, or by webhook.',
  ],
  '/docs/cli': [
    'Command line',
    'Start, follow, and stop simulation servers from a terminal or a script: commands, exit codes, settings.',
  ],
  '/docs/ci': [
    'Run a scenario in CI',
    'Your program on a GPU server in GitHub Actions: its exit code is the check, its log and files are in the job.',
  ],
  '/docs/billing': [
    'Billing',
    'When the meter runs, what a month costs, and how to keep costs under control, with worked examples.',
  ],
  '/docs/images': [
    'Servers',
    'What runs on a simulation server: the machine, its GPUs, the simulator, port 5173, and what happens at the end.',
  ],
  '/docs/ports': [
    'Ports and pictures',
    'Which ports of a simulation server reach you, which pictures, and what a container image needs for it.',
  ],
} satisfies Record<string, [title: string, description: string]>

type Path = keyof typeof DOCS

/** The documentation: static pages, and the API's page from the OpenAPI description. */
export const docs = [
  route('GET /docs', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) =>
    page(c, '/docs', c.var.ctx.config.door ? 'docs-with-door' : 'docs'),
  ),
  route('GET /docs/api', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer(async (c) => {
    const [document, { listCalls }, { Api }] = await Promise.all([
      apiDocument(c),
      import('./openapi/call-list.ts'),
      import('../../../pages/docs/Api.tsx'),
    ])
    const origin = siteOrigin(c.var.ctx)
    const calls: ApiCall[] = listCalls(document)
    return show(c, '/docs/api', <Api origin={origin} calls={calls} />)
  }),
  route('GET /docs/events', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) =>
    page(c, '/docs/events', 'docs-events'),
  ),
  route('GET /docs/cli', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) =>
    page(c, '/docs/cli', c.var.ctx.config.door ? 'docs-cli-with-door' : 'docs-cli'),
  ),
  route('GET /docs/billing', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) =>
    page(c, '/docs/billing', 'docs-billing'),
  ),
  route('GET /docs/ci', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) =>
    page(c, '/docs/ci', 'docs-ci'),
  ),
  route('GET /docs/images', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) =>
    page(c, '/docs/images', 'docs-images'),
  ),
  route('GET /docs/ports', { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer((c) =>
    page(c, '/docs/ports', 'docs-ports'),
  ),
  route('GET /llms.txt', { access: 'public' }).answer((c) => {
    const origin = siteOrigin(c.var.ctx)
    const link = (path: string, title: string, words: string) => `- [${title}](${origin}${path}): ${words}`
    const pages = c.var.routes.pagesWhere(({ search }) => search === 'listed')
    const lines = [
      '# Proving Ground',
      '',
      '> GPU simulation servers for drones and ground vehicles, rented by the second: start one in the browser, with an HTTP API, or on the command line.',
      '',
      '## Documentation',
      '',
      ...Object.entries(DOCS).map(([path, [title, words]]) => link(path, title, words)),
      link('/api/openapi.json', 'OpenAPI document', 'the API for programs, OpenAPI 3.1'),
      '',
      '## Site',
      '',
      ...pages.filter((path) => !(path in DOCS)).map((path) => `- ${origin}${path}`),
      '',
    ]
    return c.text(lines.join('\n'), 200, { 'Cache-Control': 'public, max-age=86400' })
  }),
]

async function page(c: HonoContext<AppEnv>, path: Path, text: TextName): Promise<Response> {
  return show(c, path, await findText(c, text))
}

function show(c: HonoContext<AppEnv>, path: Path, body: ReactNode): Response {
  const [title, description] = DOCS[path]
  return renderPage(c, { title: `${title}, documentation`, description, assets: 'docs', same: true }, body)
}

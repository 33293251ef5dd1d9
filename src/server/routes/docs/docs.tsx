import type { openIndex } from '../../../domain/docs-search.ts'
import { DOCS } from '../../../pages/docs/list.ts'
import { renderPage } from '../../http/render.tsx'
import { route } from '../../http/route.ts'
import { findText, readText } from '../../http/texts.tsx'
import { siteOrigin } from '../../runtime/context.ts'
import type { Env } from '../../settings/env.ts'

/** Opened once per environment: it stays the same until the next deployment. */
const searches = new WeakMap<Env, ReturnType<typeof openIndex>>()

/** The documentation, and what helps language models find it. */
export const docs = [
  ...DOCS.map(({ path, file, title, description }) =>
    route(`GET ${path}`, { access: 'public', kind: 'page', search: 'listed', ahead: 'hover' }).answer(async (c) => {
      const text = await findText(c, `docs-${file}${c.var.ctx.config.door ? '-with-door' : ''}`)
      return renderPage(c, { title: `${title}, documentation`, description, assets: 'docs', same: true }, text)
    }),
  ),
  // In a browser that runs our script, the page itself finds the same.
  route('GET /docs/search', { access: 'public', kind: 'page' }).answer(async (c) => {
    const query = (c.req.query('q') ?? '').trim().slice(0, 100)
    const { Found } = await import('../../../pages/docs/Found.tsx')
    let search = searches.get(c.env)
    if (query && !search) {
      const { openIndex } = await import('../../../domain/docs-search.ts')
      search = openIndex(await readText(c, 'docs-search'))
      searches.set(c.env, search)
    }
    const hits = query && search ? search(query) : []
    return renderPage(c, { title: 'Search the documentation', assets: 'docs' }, <Found query={query} hits={hits} />)
  }),
  route('GET /llms.txt', { access: 'public' }).answer((c) => {
    const origin = siteOrigin(c.var.ctx)
    const link = (path: string, title: string, words: string) => `- [${title}](${origin}${path}): ${words}`
    const pages = c.var.routes.pagesWhere(({ search }) => search === 'listed')
    const paths: string[] = DOCS.map(({ path }) => path)
    const lines = [
      '# Proving Ground',
      '',
      '> GPU simulation servers for drones and ground vehicles, rented by the second: start one in the browser, with an HTTP API, or on the command line.',
      '',
      '## Documentation',
      '',
      ...DOCS.map(({ path, title, description }) => link(path, title, description)),
      link('/api/openapi.json', 'OpenAPI document', 'the API for programs, OpenAPI 3.1'),
      '',
      '## Site',
      '',
      ...pages.filter((path) => !paths.includes(path)).map((path) => `- ${origin}${path}`),
      '',
    ]
    return c.text(lines.join('\n'), 200, { 'Cache-Control': 'public, max-age=86400' })
  }),
]

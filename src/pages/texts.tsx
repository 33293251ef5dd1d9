import { renderToString } from 'react-dom/server'
import { writeIndex } from '../domain/docs-search.ts'
import { type ApiDocument, listCalls } from './docs/api-calls.ts'
import { Doc } from './docs/Doc.tsx'
import { DOCS, type Doc as Page } from './docs/list.ts'
import { sectionsOf, toHtml } from './docs/markdown.ts'
import { fillIn, ORIGIN } from './docs/values.ts'
import { Terms } from './Terms.tsx'

const MARKDOWN = import.meta.glob<string>('./docs/*.md', { query: '?raw', import: 'default', eager: true })

export type TextName =
  | `docs-${Page['file']}${'' | '-with-door'}`
  | 'docs-search'
  | 'openapi'
  | 'terms'
  | 'terms-without-files'

/** What is only text: the build renders it into files, so the Worker needn't carry it. */
export function renderTexts(document: ApiDocument): [name: TextName, html: string][] {
  const calls = listCalls(document)
  const htmlOf = (page: Page, hasDoor: boolean) =>
    toHtml(fillIn(MARKDOWN[`./docs/${page.file}.md`] ?? '', calls, hasDoor))
  return [
    ...DOCS.flatMap((page): [TextName, string][] => [
      [`docs-${page.file}`, renderToString(<Doc page={page} html={htmlOf(page, false)} />)],
      [`docs-${page.file}-with-door`, renderToString(<Doc page={page} html={htmlOf(page, true)} />)],
    ]),
    ['docs-search', writeIndex(DOCS.flatMap((page) => searched(page, htmlOf(page, false).replaceAll(ORIGIN, ''))))],
    ['openapi', JSON.stringify({ ...document, servers: [{ url: ORIGIN }] })],
    ['terms', renderToString(<Terms hasFiles />)],
    ['terms-without-files', renderToString(<Terms hasFiles={false} />)],
  ]
}

/** The text by which a search may find a page: besides its title, its description. */
const searched = ({ path, title, description }: Page, html: string) => [
  { address: path, page: title, title, text: description, code: '' },
  ...sectionsOf(html).map(({ id, ...section }) => ({ ...section, address: `${path}#${id}`, page: title })),
]

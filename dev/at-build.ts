import { renderTexts } from '../src/pages/texts.tsx'
import { routes } from '../src/server/app.ts'
import { withCallTable } from '../src/server/routes/docs/openapi/call-table.ts'
import { describeApi } from '../src/server/routes/docs/openapi/document.ts'

/** What the build writes. It loads this through Vite, since Node can't import JSX. */
export const document = describeApi(routes, 'https://your-site.example')
export const renderAllTexts = () => renderTexts(document)

export const fillInCalls = (markdown: string) => withCallTable(markdown, routes)

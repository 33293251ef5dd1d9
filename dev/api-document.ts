import { routes } from '../src/server/app.ts'
import { describeApi } from '../src/server/routes/docs/openapi/document.ts'

/** `scripts/client.ts` loads this through Vite, since Node can't import JSX. */
export const document = describeApi(routes, 'https://your-site.example')

import { Hono } from 'hono'
import { z } from 'zod'

const look = z.object({
  theme: z.enum(['light', 'dark', 'system']).default('system'),
  as: z.enum(['visitor', 'user', 'admin']).default('user'),
})

/**
 * The components page. Vite compiles it on each request, so it always shows the current sources.
 * @param styles where the browser finds the style sheets
 */
export function componentsRoutes(styles: () => string[]) {
  return new Hono()
    .get('/components', async (c) => {
      const { runnerImport } = await import('vite')
      const page = await runnerImport<typeof import('./page.tsx')>(`${import.meta.dirname}/page.tsx`, {
        configFile: false,
        logLevel: 'error',
      })
      const { origin } = new URL(c.req.url)
      return c.html(page.module.componentsPage({ ...look.parse(c.req.query()), styles: styles(), origin }))
    })
    .get('/components/phone', (c) => c.html(PHONE))
}

/** Both themes at a phone's width, side by side. */
const PHONE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Components on a phone</title>
    <style>
      body { display: flex; gap: 24px; justify-content: center; margin: 0; background: #888 }
      iframe { width: 360px; height: 100vh; border: 0 }
    </style>
  </head>
  <body>
    <iframe title="Light" src="/dev/components?theme=light"></iframe>
    <iframe title="Dark" src="/dev/components?theme=dark"></iframe>
  </body>
</html>`

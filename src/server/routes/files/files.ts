import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { AppEnv } from '../../http/app-env.ts'
import { mayOperate } from '../../http/bearer.ts'
import { body, text } from '../../http/body.ts'

/** Loaded when needed: every isolate would evaluate them at startup. */
const answers = () => import('./answers.ts')

const wanted = z.object({ path: text, size: z.number() })
const wantedInParts = z.object({ path: text, size: z.number(), version: z.string().check(z.maxLength(100)) })

export const files = new Hono<AppEnv>()
  .get('/files', async (c) => (await import('./page.tsx')).show(c))
  .post('/files', async (c) => (await answers()).uploadForm(c))
  .get('/api/v1/files', async (c) => (await answers()).list(c))
  .post('/api/v1/files', body(wanted), async (c) => (await answers()).upload(c, c.req.valid('json')))
  .delete('/api/v1/files', async (c) => (await answers()).remove(c))
  .get('/api/v1/files/content', async (c) => (await answers()).link(c))
  .get('/api/v1/files/size', async (c) => (await answers()).size(c))
  .post('/api/v1/files/credentials', body(z.object({ mode: z.enum(['read', 'write']) })), async (c) => {
    const { mode } = c.req.valid('json')
    if (mode === 'write') mayOperate(c)
    return (await answers()).credentials(c, mode)
  })
  .get('/api/v1/files/uploads', async (c) => (await answers()).uploads(c))
  .post('/api/v1/files/uploads', body(wantedInParts), async (c) => (await answers()).begin(c, c.req.valid('json')))
  .post('/api/v1/files/uploads/:id/parts', body(z.object({ parts: z.array(z.number()) })), async (c) =>
    (await answers()).parts(c, c.req.valid('json').parts),
  )
  .post('/api/v1/files/uploads/:id/complete', async (c) => (await answers()).complete(c))
  .delete('/api/v1/files/uploads/:id', async (c) => (await answers()).discard(c))
  .post('/api/v1/files/moves', async () => (await answers()).gone('moves'))
  .post('/api/v1/files/folders', async () => (await answers()).gone('folders'))
  .get('/api/v1/files/deletions', async () => (await answers()).gone('deletions'))
  .post('/api/v1/files/deletions/:id/undo', async () => (await answers()).gone('undo'))

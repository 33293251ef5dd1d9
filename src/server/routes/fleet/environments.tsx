import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { AppEnv } from '../../http/app-env.ts'
import { body, text } from '../../http/body.ts'

/** Loaded when needed: few people bring images, and every isolate would evaluate this at startup. */
const answers = () => import('./environments/answers.tsx')

export const environments = new Hono<AppEnv>()
  .get('/environments', async (c) => (await answers()).list(c))
  .post('/api/v1/environments', body(z.object({ name: text, image: text })), async (c) =>
    (await answers()).add(c, c.req.valid('json')),
  )
  .delete('/api/v1/environments/:name', async (c) => (await answers()).remove(c, c.req.param('name')))

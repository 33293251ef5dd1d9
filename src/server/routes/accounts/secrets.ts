import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { AppEnv } from '../../http/app-env.ts'
import { body, text, textLines } from '../../http/body.ts'

const value = { value: textLines, current_password: text }

/** Loaded when needed: few people have secrets, and every isolate would evaluate this at startup. */
const answers = () => import('./secrets/answers.tsx')

export const secrets = new Hono<AppEnv>()
  .get('/secrets', async (c) => (await answers()).page(c))
  .get('/api/v1/secrets', async (c) => (await answers()).list(c))
  .put('/secrets/:name', body(z.object(value)), async (c) =>
    (await answers()).put(c, { name: c.req.param('name'), ...c.req.valid('json') }),
  )
  // As above, for a form: its name is typed.
  .post('/secrets', body(z.object({ name: text, ...value })), async (c) =>
    (await answers()).put(c, c.req.valid('json')),
  )
  .delete('/secrets/:name', async (c) => (await answers()).remove(c, c.req.param('name')))

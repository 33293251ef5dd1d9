import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { AppEnv } from '../../http/app-env.ts'
import { body, checkedNames, text } from '../../http/body.ts'

const wanted = z.object({ url: text, events: checkedNames, current_password: text })
const rotation = z.object({ current_password: text })

/** Loaded when needed: few people have webhooks, and every isolate would evaluate this at startup. */
const answers = () => import('./webhooks/answers.tsx')

export const webhooks = new Hono<AppEnv>()
  .get('/webhooks', async (c) => (await answers()).list(c))
  .post('/webhooks', body(wanted), async (c) => (await answers()).add(c, c.req.valid('json')))
  .get('/webhooks/:id', async (c) => (await answers()).show(c, c.req.param('id')))
  .delete('/webhooks/:id', async (c) => (await answers()).remove(c, c.req.param('id')))
  .post('/webhooks/:id/secret', body(rotation), async (c) =>
    (await answers()).rotate(c, c.req.param('id'), c.req.valid('json')),
  )
  .post('/webhooks/:id/on', async (c) => (await answers()).turnOn(c, c.req.param('id')))
  .post('/webhooks/:id/test', async (c) => (await answers()).test(c, c.req.param('id')))
  .post('/webhooks/:id/deliveries/:event', async (c) =>
    (await answers()).again(c, c.req.param('id'), c.req.param('event')),
  )

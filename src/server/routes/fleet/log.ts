import { Hono } from 'hono'
import type { AppEnv } from '../../http/app-env.ts'

/** Loaded when needed: every isolate would evaluate it at startup. */
const answers = () => import('./log/answers.ts')

/** What a run's machine and its program print, and how busy they are. */
export const log = new Hono<AppEnv>()
  .get('/api/v1/servers/:id/log', async (c) => (await answers()).read(c, c.req.param('id')))
  .delete('/api/v1/servers/:id/log', async (c) => (await answers()).remove(c, c.req.param('id')))
  .get('/api/v1/servers/:id/metrics', async (c) => (await answers()).readMetricsOf(c, c.req.param('id')))
  .get('/servers/:id/log.txt', async (c) => (await answers()).download(c, c.req.param('id')))

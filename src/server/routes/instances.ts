import { Hono } from 'hono'
import { listInstances } from '../fleet/instances.ts'
import type { AppEnv } from '../http/app-env.ts'

export const instances = new Hono<AppEnv>().get('/api/v1/instances', async (c) =>
  c.json(await listInstances(c.var.ctx)),
)

import { Hono } from 'hono'
import type { AppEnv } from '../app-env.ts'
import { listInstances } from '../services/instances.ts'

export const instances = new Hono<AppEnv>().get('/api/v1/instances', async (c) =>
  c.json(await listInstances(c.var.ctx)),
)

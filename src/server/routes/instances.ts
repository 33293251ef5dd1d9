import { Hono } from 'hono'
import { pageInstances, parseInstanceView } from '../../domain/instance-view.ts'
import { listInstances } from '../fleet/instances.ts'
import type { AppEnv } from '../http/app-env.ts'

/** All instances, or with `?page=` one page of those that the query asks for, and in a header what it leaves out. */
export const instances = new Hono<AppEnv>().get('/api/v1/instances', async (c) => {
  const all = await listInstances(c.var.ctx)
  const query = new URL(c.req.url).searchParams
  if (!query.has('page')) return c.json(all)
  const { instances, ...about } = pageInstances(all, parseInstanceView(query), c.var.ctx.now())
  c.header('X-Instances', JSON.stringify(about))
  return c.json(instances)
})

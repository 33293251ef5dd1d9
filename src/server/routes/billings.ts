import { Hono } from 'hono'
import { type AppEnv, signedIn } from '../app-env.ts'
import { getUsage, toSummary } from '../services/usage.ts'

export const billings = new Hono<AppEnv>().get('/api/v1/billings/summary', async (c) =>
  c.json(toSummary(await getUsage(c.var.ctx, signedIn(c).user.id))),
)

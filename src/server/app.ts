import { Hono } from 'hono'
import type { AppEnv } from './app-env.ts'
import { createContext } from './context.ts'
import { errorResponse } from './error-response.ts'
import { billings } from './routes/billings.ts'
import { cable } from './routes/cable.ts'
import { instances } from './routes/instances.ts'
import { servers } from './routes/servers.ts'

export const app = new Hono<AppEnv>()
  .use(async (c, next) => {
    c.set('ctx', await createContext(c.env, (work) => c.executionCtx.waitUntil(work)))
    c.set('signIn', null)
    await next()
  })
  .route('/', servers)
  .route('/', billings)
  .route('/', instances)
  .route('/', cable)

app.onError((error, c) => errorResponse(error, c))

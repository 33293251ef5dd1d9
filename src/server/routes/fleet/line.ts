import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { AppEnv } from '../../http/app-env.ts'
import { body, checkbox, checkedNames, command, optionalNumber, parameters, text } from '../../http/body.ts'

const wishes = {
  name: text,
  stop_after: optionalNumber,
  environment: text,
  vehicle: text,
  max_gpus: optionalNumber,
  parameters,
  until: text,
  command,
  secrets: checkedNames,
}

/** Loaded when needed: most isolates never see a line. */
const answers = () => import('./line/answers.tsx')

export const line = new Hono<AppEnv>()
  .get('/line', async (c) => (await answers()).page(c))
  .get('/api/v1/line', async (c) => (await answers()).show(c))
  .post('/api/v1/line', body(z.object({ ...wishes, start: checkbox })), async (c) =>
    (await answers()).join(c, c.req.valid('json')),
  )
  .delete('/api/v1/line', async (c) => (await answers()).leave(c))

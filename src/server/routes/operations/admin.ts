import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { AppEnv } from '../../http/app-env.ts'
import { body, checkbox, text } from '../../http/body.ts'

const why = { reason: text, confirmed: checkbox, act_id: text }
const whyOnly = z.object(why)
const group = { name: text, gpus: text, places: text, from: text, until: text, people: text, code: checkbox }
const environment = { name: text, description: text, image: text, from: text, position: text }

/** Few isolates ever show the console, so its pages and acts load on demand. */
const screens = () => import('./admin/screens.tsx')
const acts = () => import('./admin/acts.ts')

/** The console: what admins can see about everyone, and what they can do. */
export const admin = new Hono<AppEnv>()
  .get('/console', async (c) => (await screens()).instances(c))
  .get('/console/messages', async (c) => (await screens()).messages(c))
  .get('/api/v1/instances', async (c) => (await screens()).instanceList(c))
  .get('/admin/people', async (c) => (await screens()).people(c))
  .get('/admin/people/:id', async (c) => (await screens()).person(c, c.req.param('id')))
  .get('/admin/runs/:id', async (c) => (await screens()).run(c, c.req.param('id')))
  .get('/admin/places', async (c) => (await screens()).places(c))
  .get('/admin/line', async (c) => (await screens()).lines(c))
  .get('/admin/environments', async (c) => (await screens()).environments(c))
  .get('/admin/drift', async (c) => (await screens()).drift(c))
  .get('/admin/audit', async (c) => (await screens()).audit(c))
  .get('/admin/audit.csv', async (c) => (await screens()).auditFile(c))
  .get('/admin/confirm', async (c) => (await screens()).confirm(c))
  .post('/admin/confirm', body(z.object({ to: text, user: z.object({ current_password: text }) })), async (c) => {
    const { to, user } = c.req.valid('json')
    return (await acts()).confirm(c, to, user.current_password)
  })
  .post('/admin/runs/:id/stop', body(whyOnly), async (c) =>
    (await acts()).stopRun(c, c.req.param('id'), c.req.valid('json')),
  )
  .post('/admin/instances/end', body(z.object({ ...why, instance: text })), async (c) =>
    (await acts()).endInstance(c, c.req.valid('json')),
  )
  .post('/admin/people/:id/suspend', body(whyOnly), async (c) =>
    (await acts()).suspend(c, c.req.param('id'), c.req.valid('json')),
  )
  .post('/admin/people/:id/lift', body(whyOnly), async (c) =>
    (await acts()).lift(c, c.req.param('id'), c.req.valid('json')),
  )
  .post('/admin/people/:id/plan', body(z.object({ ...why, plan: text, hours: text })), async (c) =>
    (await acts()).grant(c, c.req.param('id'), c.req.valid('json')),
  )
  .post('/admin/people/:id/end_plan', body(whyOnly), async (c) =>
    (await acts()).endPlan(c, c.req.param('id'), c.req.valid('json')),
  )
  .post('/admin/people/:id/sign_out', body(whyOnly), async (c) =>
    (await acts()).signOut(c, c.req.param('id'), c.req.valid('json')),
  )
  .post('/admin/bills/correct', body(z.object({ ...why, bill: text, seconds: text })), async (c) =>
    (await acts()).correct(c, c.req.valid('json')),
  )
  .post('/admin/bills/hold', body(z.object({ ...why, bill: text })), async (c) =>
    (await acts()).holdBill(c, true, c.req.valid('json')),
  )
  .post('/admin/bills/release', body(z.object({ ...why, bill: text })), async (c) =>
    (await acts()).holdBill(c, false, c.req.valid('json')),
  )
  .post(
    '/admin/places',
    body(z.object({ ...why, type: text, zone: text, template: text, gpus: text, count: text })),
    async (c) => (await acts()).addPlaces(c, c.req.valid('json')),
  )
  .post('/admin/places/change', body(z.object({ ...why, place: text, act: text })), async (c) =>
    (await acts()).changePlace(c, c.req.valid('json')),
  )
  .post('/admin/groups', body(z.object({ ...why, ...group })), async (c) =>
    (await acts()).addGroup(c, c.req.valid('json')),
  )
  .post('/admin/groups/end', body(z.object({ ...why, group: text })), async (c) =>
    (await acts()).endGroup(c, c.req.valid('json')),
  )
  .post('/admin/environments', body(z.object({ ...why, ...environment })), async (c) =>
    (await acts()).addEnvironment(c, c.req.valid('json')),
  )
  .post('/admin/environments/change', body(z.object({ ...why, ...environment })), async (c) =>
    (await acts()).changeEnvironment(c, c.req.valid('json')),
  )
  .post('/admin/environments/retire', body(z.object({ ...why, name: text })), async (c) =>
    (await acts()).retireEnvironment(c, c.req.valid('json')),
  )

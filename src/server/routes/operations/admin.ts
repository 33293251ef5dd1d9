import * as z from 'zod/mini'
import * as shape from '../../../domain/wire/fleet.ts'
import { checkbox, checkedNames, optionalCheckbox, proof, text } from '../../http/fields.ts'
import { route } from '../../http/route.ts'
import { vendorErrorOf } from '../../settings/log.ts'

const why = { reason: text, confirmed: checkbox, act_id: text }
const whyOnly = z.object(why)
const group = { name: text, gpus: text, places: text, from: text, until: text }
const environment = { name: text, description: text, image: text, from: text, position: text }

/** Few isolates ever show the console, so its pages and acts load on demand. */
const screens = () => import('./admin/screens.tsx')
const acts = () => import('./admin/acts.ts')

/** An act in the console. Its form and its JSON need the page's token: nothing else calls these. */
const act = (at: string) =>
  ({ access: 'admin', form: { at, done: at, back: true }, token: 'always', recentPassword: true }) as const

/** The console: what admins can see about everyone, and what they can do. */
export const admin = [
  route('GET /console', { access: 'admin', kind: 'page' }).answer(async (c) => (await screens()).instances(c)),
  route('GET /console/messages', { access: 'admin', kind: 'page' }).answer(async (c) => (await screens()).messages(c)),
  route('GET /api/v1/instances', {
    access: 'admin',
    byItself: true,
    errorFields: vendorErrorOf,
    summary: 'List all instances (admins)',
    description: [
      "With the header `X-Page: 1`, 50 of them, by `show` (`running`, `changing`, `impaired`), `q` (words), `sort`, and `order`; the answer's header `X-Instances` then has `{found, page, figures}` as JSON, with the figures for all instances.",
      'A 502 or 503 has `vendor_code` and `vendor_request_id` if we know them.',
    ],
    answers: [200, z.array(shape.instance)],
    refuses: ['provider_failed', 'unauthenticated', 'forbidden', 'unavailable'],
  }).answer(async (c) => (await screens()).instanceList(c)),
  route('GET /admin/people', { access: 'admin', kind: 'page' }).answer(async (c) => (await screens()).people(c)),
  route('GET /admin/people/:id', { access: 'admin', kind: 'page' }).answer(async (c) =>
    (await screens()).person(c, c.req.param('id')),
  ),
  route('GET /admin/runs/:id', { access: 'admin', kind: 'page' }).answer(async (c) =>
    (await screens()).run(c, c.req.param('id')),
  ),
  route('GET /admin/places', { access: 'admin', kind: 'page' }).answer(async (c) => (await screens()).places(c)),
  route('GET /admin/line', { access: 'admin', kind: 'page' }).answer(async (c) => (await screens()).lines(c)),
  route('GET /admin/groups/:id', { access: 'admin', kind: 'page' }).answer(async (c) =>
    (await screens()).group(c, c.req.param('id')),
  ),
  route('GET /admin/environments', { access: 'admin', kind: 'page' }).answer(async (c) =>
    (await screens()).environments(c),
  ),
  route('GET /admin/drift', { access: 'admin', kind: 'page' }).answer(async (c) => (await screens()).drift(c)),
  route('GET /admin/audit', { access: 'admin', kind: 'page' }).answer(async (c) => (await screens()).audit(c)),
  route('GET /admin/audit.csv', { access: 'admin', kind: 'page', file: true }).answer(async (c) =>
    (await screens()).auditFile(c),
  ),
  route('GET /admin/confirm', { access: 'admin', kind: 'page', withoutProof: true }).answer(async (c) =>
    (await screens()).confirm(c),
  ),
  route('POST /admin/confirm', {
    access: 'admin',
    withoutProof: true,
    form: { at: '/admin/confirm', done: '/admin/people' },
    token: 'always',
    takes: z.object({ to: text, user: z.object(proof) }),
  }).answer(async (c) => {
    const { to, user } = c.req.valid('json')
    return (await acts()).confirm(c, to, user)
  }),
  route('POST /admin/runs/:id/stop', { ...act('/admin/runs/:id'), takes: whyOnly }).answer(async (c) =>
    (await acts()).stopRun(c, c.req.param('id'), c.req.valid('json')),
  ),
  route('POST /admin/instances/end', {
    ...act('/admin/drift'),
    takes: z.object({ ...why, instances: checkedNames, listed: checkedNames, all: optionalCheckbox }),
  }).answer(async (c) => (await acts()).endInstances(c, c.req.valid('json'))),
  route('POST /admin/people/:id/suspend', { ...act('/admin/people/:id'), takes: whyOnly }).answer(async (c) =>
    (await acts()).suspend(c, c.req.param('id'), c.req.valid('json')),
  ),
  route('POST /admin/people/:id/lift', { ...act('/admin/people/:id'), takes: whyOnly }).answer(async (c) =>
    (await acts()).lift(c, c.req.param('id'), c.req.valid('json')),
  ),
  route('POST /admin/people/:id/no_factor', { ...act('/admin/people/:id'), takes: whyOnly }).answer(async (c) =>
    (await acts()).removeFactor(c, c.req.param('id'), c.req.valid('json')),
  ),
  route('POST /admin/people/:id/keep_factor', { ...act('/admin/people/:id'), takes: whyOnly }).answer(async (c) =>
    (await acts()).keepFactor(c, c.req.param('id'), c.req.valid('json')),
  ),
  route('POST /admin/people/:id/plan', {
    ...act('/admin/people/:id'),
    takes: z.object({ ...why, plan: text, hours: text }),
  }).answer(async (c) => (await acts()).grant(c, c.req.param('id'), c.req.valid('json'))),
  route('POST /admin/people/:id/end_plan', { ...act('/admin/people/:id'), takes: whyOnly }).answer(async (c) =>
    (await acts()).endPlan(c, c.req.param('id'), c.req.valid('json')),
  ),
  route('POST /admin/people/:id/sign_out', { ...act('/admin/people/:id'), takes: whyOnly }).answer(async (c) =>
    (await acts()).signOut(c, c.req.param('id'), c.req.valid('json')),
  ),
  route('POST /admin/bills/correct', {
    ...act('/admin/people'),
    takes: z.object({ ...why, bill: text, seconds: text }),
  }).answer(async (c) => (await acts()).correct(c, c.req.valid('json'))),
  route('POST /admin/bills/hold', { ...act('/admin/people'), takes: z.object({ ...why, bill: text }) }).answer(
    async (c) => (await acts()).holdBill(c, true, c.req.valid('json')),
  ),
  route('POST /admin/bills/release', { ...act('/admin/people'), takes: z.object({ ...why, bill: text }) }).answer(
    async (c) => (await acts()).holdBill(c, false, c.req.valid('json')),
  ),
  route('POST /admin/places', {
    ...act('/admin/places'),
    takes: z.object({ ...why, type: text, zone: text, template: text, gpus: text, count: text }),
  }).answer(async (c) => (await acts()).addPlaces(c, c.req.valid('json'))),
  route('POST /admin/places/change', {
    ...act('/admin/places'),
    takes: z.object({ ...why, place: text, act: text }),
  }).answer(async (c) => (await acts()).changePlace(c, c.req.valid('json'))),
  route('POST /admin/places/warm', {
    ...act('/admin/places'),
    takes: z.object({ ...why, kind: text, hours: text, count: text, time_zone: text, price: text, only: text }),
  }).answer(async (c) => (await acts()).keepWarm(c, c.req.valid('json'))),
  route('POST /admin/groups', {
    ...act('/admin/line'),
    takes: z.object({ ...why, ...group, people: text, code: checkbox }),
  }).answer(async (c) => (await acts()).addGroup(c, c.req.valid('json'))),
  route('POST /admin/groups/:id/change', {
    ...act('/admin/groups/:id'),
    takes: z.object({ ...why, ...group }),
  }).answer(async (c) => (await acts()).changeGroup(c, c.req.param('id'), c.req.valid('json'))),
  route('POST /admin/groups/:id/add', {
    ...act('/admin/groups/:id'),
    takes: z.object({ ...why, people: text }),
  }).answer(async (c) => (await acts()).addPeople(c, c.req.param('id'), c.req.valid('json'))),
  route('POST /admin/groups/:id/remove', {
    ...act('/admin/groups/:id'),
    takes: z.object({ ...why, remove: checkedNames }),
  }).answer(async (c) => (await acts()).removePeople(c, c.req.param('id'), c.req.valid('json'))),
  route('POST /admin/groups/:id/end', { ...act('/admin/groups/:id'), takes: whyOnly }).answer(async (c) =>
    (await acts()).endGroup(c, c.req.param('id'), c.req.valid('json')),
  ),
  route('POST /admin/environments', {
    ...act('/admin/environments'),
    takes: z.object({ ...why, ...environment }),
  }).answer(async (c) => (await acts()).addEnvironment(c, c.req.valid('json'))),
  route('POST /admin/environments/change', {
    ...act('/admin/environments'),
    takes: z.object({ ...why, ...environment }),
  }).answer(async (c) => (await acts()).changeEnvironment(c, c.req.valid('json'))),
  route('POST /admin/environments/retire', {
    ...act('/admin/environments'),
    takes: z.object({ ...why, name: text }),
  }).answer(async (c) => (await acts()).retireEnvironment(c, c.req.valid('json'))),
]

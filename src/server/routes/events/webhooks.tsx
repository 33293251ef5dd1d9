import * as z from 'zod/mini'
import { message } from '../../../domain/wire/answers.ts'
import * as shape from '../../../domain/wire/events.ts'
import { checkedNames, proof, REFUSES_PROOF, text } from '../../http/fields.ts'
import { route } from '../../http/route.ts'

const wanted = z.object({ url: text, events: checkedNames, ...proof })
const LIST = '/settings/developers#webhooks'
const ON_WEBHOOK = { at: '/webhooks/:id', done: '/webhooks/:id' }
const rotation = z.object(proof)

/** Loaded when needed: few people have webhooks, and every isolate would evaluate this at startup. */
const answers = () => import('./webhooks/answers.tsx')

export const webhooks = [
  route('POST /webhooks', {
    access: 'user',
    form: { at: LIST, done: LIST },
    token: 'always',
    takes: wanted,
    summary: 'Add a webhook',
    description: [
      'This is the only time you see `secret`.',
      '`events` is a list (`/docs/events#webhooks` lists them).',
      'We email you.',
    ],
    answers: [201, z.extend(shape.webhook, { secret: z.string() })],
    refuses: [...REFUSES_PROOF, 'conflict'],
    when: { 409: 'you have this URL, or 5 webhooks', 429: 'ten an hour' },
  }).answer(async (c) => (await answers()).add(c, c.req.valid('json'))),
  route('GET /webhooks/:id', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) =>
    (await answers()).show(c, c.req.param('id')),
  ),
  route('DELETE /webhooks/:id', {
    access: 'user',
    form: { at: '/webhooks/:id', done: LIST },
    token: 'always',
    summary: 'Delete a webhook',
    description: ['This also deletes its deliveries.', 'We email you.'],
    answers: [200, message],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).remove(c, c.req.param('id'))),
  route('POST /webhooks/:id/secret', {
    access: 'user',
    form: ON_WEBHOOK,
    token: 'always',
    takes: rotation,
    summary: "Replace a webhook's secret",
    description: ['Replaced secrets keep signing for a day.', 'We email you.'],
    answers: [201, z.object({ secret: z.string() })],
    refuses: [...REFUSES_PROOF, 'not_found', 'conflict'],
    when: { 409: 'four already sign', 429: 'ten an hour' },
  }).answer(async (c) => (await answers()).rotate(c, c.req.param('id'), c.req.valid('json'))),
  route('POST /webhooks/:id/on', {
    access: 'user',
    form: ON_WEBHOOK,
    token: 'always',
    summary: 'Turn a webhook on again',
    description: 'For a webhook that we switched off.',
    answers: [200, message],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).turnOn(c, c.req.param('id'))),
  route('POST /webhooks/:id/test', {
    access: 'user',
    form: ON_WEBHOOK,
    token: 'always',
    summary: 'Send a test event',
    answers: [202, message],
    refuses: ['not_found', 'conflict'],
    when: { 409: 'it is off', 429: 'a hundred an hour' },
  }).answer(async (c) => (await answers()).test(c, c.req.param('id'))),
  route('POST /webhooks/:id/deliveries/:event', {
    access: 'user',
    form: ON_WEBHOOK,
    token: 'always',
    summary: 'Send an event again',
    description: 'The event keeps its id.',
    answers: [202, message],
    refuses: ['not_found', 'conflict'],
    when: { 409: 'it is off', 429: 'a hundred an hour' },
  }).answer(async (c) => (await answers()).again(c, c.req.param('id'), c.req.param('event'))),
]

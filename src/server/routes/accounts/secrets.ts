import * as z from 'zod/mini'
import * as shape from '../../../domain/wire/accounts.ts'
import { message } from '../../../domain/wire/answers.ts'
import { proof, REFUSES_PROOF, text, textLines } from '../../http/fields.ts'
import { route } from '../../http/route.ts'

const ON_PAGE = { at: '/settings/developers#secrets', done: '/settings/developers#secrets' }
const value = { value: textLines, ...proof }

/** Loaded when needed: few people have secrets, and every isolate would evaluate this at startup. */
const answers = () => import('./secrets/answers.tsx')

export const secrets = [
  route('GET /api/v1/secrets', {
    access: 'user',
    scope: 'read',
    summary: 'List the names of your secrets',
    description: 'Sorted by name. Values are never included.',
    answers: [200, z.object({ secrets: z.array(shape.storedSecret) })],
  }).answer(async (c) => (await answers()).list(c)),
  route('PUT /secrets/:name', {
    access: 'user',
    token: 'always',
    takes: z.object(value),
    summary: 'Add a secret, or replace its value',
    description: [
      '`name` is that of a parameter; `value` is text of 1 to 8,192 bytes, line breaks allowed, without a NUL.',
      "It can't be read back.",
      'We email you.',
    ],
    answers: [200, shape.storedSecret],
    refuses: [...REFUSES_PROOF, 'conflict', 'not_found'],
    when: { 409: 'you have 20', 429: 'forty an hour' },
  }).answer(async (c) => (await answers()).put(c, { name: c.req.param('name'), ...c.req.valid('json') })),
  // The same for a form, in which people type the name.
  route('POST /secrets', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    takes: z.object({ name: text, ...value }),
    summary: 'Add a secret, or replace its value, by a form',
    description: 'The same as `PUT /secrets/:name`.',
    answers: [200, shape.storedSecret],
    refuses: [...REFUSES_PROOF, 'conflict'],
    when: { 409: 'you have 20', 429: 'forty an hour' },
  }).answer(async (c) => (await answers()).put(c, c.req.valid('json'))),
  route('DELETE /secrets/:name', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    summary: 'Remove a secret',
    description: 'We email you.',
    answers: [200, message],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).remove(c, c.req.param('name'))),
]

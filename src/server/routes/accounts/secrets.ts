import * as z from 'zod/mini'
import * as shape from '../../../domain/wire.ts'
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
    answers: [200, z.object({ secrets: z.array(shape.storedSecret) })],
  }).answer(async (c) => (await answers()).list(c)),
  route('PUT /secrets/:name', {
    access: 'user',
    token: 'always',
    takes: z.object(value),
    summary: 'Add a secret, or replace its value',
    answers: [200, shape.storedSecret],
    refuses: [...REFUSES_PROOF, 'conflict', 'not_found'],
  }).answer(async (c) => (await answers()).put(c, { name: c.req.param('name'), ...c.req.valid('json') })),
  // The same for a form, in which people type the name.
  route('POST /secrets', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    takes: z.object({ name: text, ...value }),
    summary: 'Add a secret, or replace its value, by a form',
    answers: [200, shape.storedSecret],
    refuses: [...REFUSES_PROOF, 'conflict'],
  }).answer(async (c) => (await answers()).put(c, c.req.valid('json'))),
  route('DELETE /secrets/:name', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    summary: 'Remove a secret',
    answers: [200, shape.message],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).remove(c, c.req.param('name'))),
]

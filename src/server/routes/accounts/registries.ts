import * as z from 'zod/mini'
import * as shape from '../../../domain/wire.ts'
import { proof, REFUSES_PROOF, text } from '../../http/fields.ts'
import { route } from '../../http/route.ts'

const ON_PAGE = { at: '/settings/developers#registries', done: '/settings/developers#registries' }
const login = { username: text, token: text, ...proof }

/** Loaded when needed: few people have private images, and every isolate would evaluate this at startup. */
const answers = () => import('./registries/answers.tsx')

export const registries = [
  route('GET /api/v1/registries', {
    access: 'user',
    scope: 'read',
    summary: 'List your registry logins',
    answers: [200, z.object({ registries: z.array(shape.registryLogin) })],
  }).answer(async (c) => (await answers()).list(c)),
  route('PUT /registries/:host', {
    access: 'user',
    token: 'always',
    takes: z.object(login),
    summary: 'Add a registry login, or replace it',
    answers: [200, shape.registryLogin],
    refuses: [...REFUSES_PROOF, 'conflict', 'not_found'],
  }).answer(async (c) => (await answers()).put(c, { host: c.req.param('host'), ...c.req.valid('json') })),
  // The same for a form, in which people type the host.
  route('POST /registries', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    takes: z.object({ host: text, ...login }),
    summary: 'Add a registry login, or replace it, by a form',
    answers: [200, shape.registryLogin],
    refuses: [...REFUSES_PROOF, 'conflict'],
  }).answer(async (c) => (await answers()).put(c, c.req.valid('json'))),
  route('DELETE /registries/:host', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    summary: 'Remove a registry login',
    answers: [200, shape.message],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).remove(c, c.req.param('host'))),
]

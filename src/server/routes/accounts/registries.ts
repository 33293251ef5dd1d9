import * as z from 'zod/mini'
import * as shape from '../../../domain/wire/accounts.ts'
import { message } from '../../../domain/wire/answers.ts'
import { proof, REFUSES_PROOF, text } from '../../http/fields.ts'
import { route } from '../../http/route.ts'

const ON_PAGE = { at: '/settings/developers#registries', done: '/settings/developers#registries' }
const login = { username: text, token: text, ...proof }

/** Loaded when needed: few people have private images, and every isolate would evaluate this at startup. */
const answers = () => import('./registries/answers.tsx')

const WHEN_NOT_SAVED = {
  409: 'you have 5',
  422: "also for a host that isn't on the public Internet, and for Amazon ECR",
  429: 'forty an hour, secrets included',
}

export const registries = [
  route('GET /api/v1/registries', {
    access: 'user',
    scope: 'read',
    summary: 'List your registry logins',
    description: 'Sorted by host. Tokens are never included.',
    answers: [200, z.object({ registries: z.array(shape.registryLogin) })],
  }).answer(async (c) => (await answers()).list(c)),
  route('PUT /registries/:host', {
    access: 'user',
    token: 'always',
    takes: z.object(login),
    summary: 'Add a registry login, or replace it',
    description: [
      'Servers pull your own images from there with it.',
      "`host` is what an image's reference begins with, with its port if it has one; `docker.io` is Docker Hub.",
      '`username` has at most 255 characters, no colon, and no control character.',
      "`token`, a password or a token, has 1 to 8,192 bytes. It can't be read back.",
      'We email you.',
    ],
    answers: [200, shape.registryLogin],
    refuses: [...REFUSES_PROOF, 'conflict', 'not_found'],
    when: WHEN_NOT_SAVED,
  }).answer(async (c) => (await answers()).put(c, { host: c.req.param('host'), ...c.req.valid('json') })),
  // The same for a form, in which people type the host.
  route('POST /registries', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    takes: z.object({ host: text, ...login }),
    summary: 'Add a registry login, or replace it, by a form',
    description: 'The same as `PUT /registries/:host`.',
    answers: [200, shape.registryLogin],
    refuses: [...REFUSES_PROOF, 'conflict'],
    when: WHEN_NOT_SAVED,
  }).answer(async (c) => (await answers()).put(c, c.req.valid('json'))),
  route('DELETE /registries/:host', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    summary: 'Remove a registry login',
    description: 'We email you.',
    answers: [200, message],
    refuses: ['not_found'],
  }).answer(async (c) => (await answers()).remove(c, c.req.param('host'))),
]

import * as z from 'zod/mini'
import * as shape from '../../../domain/wire.ts'
import { checkbox, passkeyAnswer, proof, REFUSES_PROOF, text } from '../../http/fields.ts'
import { route } from '../../http/route.ts'

const proved = z.object(proof)
const withLink = z.object({ ...proof, link: text })
const ON_SECURITY = { form: { at: '/account_security', done: '/account_security' }, token: 'always' } as const

const options = z.object({ options: z.looseObject({ challenge: z.string() }) })

/** Loaded when needed: people seldom change their factors, and every isolate would evaluate this at startup. */
const answers = () => import('./security/answers.tsx')

/** An account's second factors. */
export const security = [
  route('GET /account_security', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) =>
    (await answers()).page(c),
  ),
  route('GET /activity', { access: 'user', kind: 'page', ahead: 'press' }).answer(async (c) =>
    (await import('./security/activity.tsx')).page(c),
  ),
  route('POST /account_security/link', {
    access: 'admin',
    ...ON_SECURITY,
    withoutFactor: true,
    withoutProof: true,
    summary: 'Email an admin the link to add a first factor',
    answers: [200, shape.message],
  }).answer(async (c) => (await answers()).mailLink(c)),
  route('POST /account_security/keep', {
    access: 'user',
    ...ON_SECURITY,
    summary: 'Keep a second factor that an operator removes as lost',
    answers: [200, shape.message],
    refuses: ['conflict'],
  }).answer(async (c) => (await answers()).keep(c)),
  route('POST /account_security/totp', {
    access: 'user',
    form: { ...ON_SECURITY.form, keeps: { query: 'link', field: 'link' } },
    token: 'always',
    takes: withLink,
    summary: 'Start to add an authenticator app',
    answers: [200, z.object({ secret: z.string(), uri: z.string() })],
    refuses: [...REFUSES_PROOF, 'conflict'],
  }).answer(async (c) => (await answers()).start(c, c.req.valid('json'))),
  route('POST /account_security/totp/confirm', {
    access: 'user',
    ...ON_SECURITY,
    takes: z.object({ code: text }),
    summary: 'Add the authenticator app, with a first code',
    answers: [200, shape.recoveryCodes],
    refuses: ['invalid_code', 'conflict'],
  }).answer(async (c) => (await answers()).confirm(c, c.req.valid('json').code)),
  route('DELETE /account_security/totp', {
    access: 'user',
    ...ON_SECURITY,
    takes: proved,
    summary: 'Remove the authenticator app',
    answers: [200, shape.message],
    refuses: [...REFUSES_PROOF, 'not_found'],
  }).answer(async (c) => (await answers()).remove(c, c.req.valid('json'))),
  route('POST /account_security/passkeys/options', {
    access: 'user',
    ...ON_SECURITY,
    takes: withLink,
    summary: 'Start to add a passkey',
    answers: [200, options],
    refuses: [...REFUSES_PROOF, 'conflict'],
  }).answer(async (c) => (await answers()).startPasskey(c, c.req.valid('json'))),
  route('POST /account_security/passkeys', {
    access: 'user',
    ...ON_SECURITY,
    takes: z.object({ name: text, response: passkeyAnswer }),
    summary: 'Add the passkey that the browser made',
    answers: [201, z.extend(shape.passkey, shape.recoveryCodes.shape)],
    refuses: ['invalid', 'invalid_code', 'conflict'],
  }).answer(async (c) => (await answers()).addPasskey(c, c.req.valid('json'))),
  route('POST /account_security/passkeys/confirm', {
    access: 'user',
    ...ON_SECURITY,
    takes: z.object({ verified: checkbox }),
    mayBeEmpty: true,
    summary: 'Start to prove a passkey as the second factor of another call',
    answers: [200, options],
  }).answer(async (c) => (await answers()).confirmWithPasskey(c, c.req.valid('json').verified)),
  route('DELETE /account_security/passkeys/:id', {
    access: 'user',
    ...ON_SECURITY,
    takes: proved,
    summary: 'Remove a passkey',
    answers: [200, shape.message],
    refuses: [...REFUSES_PROOF, 'not_found'],
  }).answer(async (c) => (await answers()).removePasskey(c, c.req.param('id'), c.req.valid('json'))),
  route('POST /account_security/recovery_codes', {
    access: 'user',
    ...ON_SECURITY,
    takes: proved,
    summary: 'Replace your recovery codes',
    answers: [200, shape.recoveryCodes],
    refuses: [...REFUSES_PROOF, 'conflict'],
  }).answer(async (c) => (await answers()).renewCodes(c, c.req.valid('json'))),
]

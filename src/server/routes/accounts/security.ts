import * as z from 'zod/mini'
import * as shape from '../../../domain/wire/accounts.ts'
import { message } from '../../../domain/wire/answers.ts'
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
    description: ['For admins without a second factor.', 'The link works once, within 10 minutes.'],
    answers: [200, message],
    refuses: ['forbidden', 'too_many'],
  }).answer(async (c) => (await answers()).mailLink(c)),
  route('POST /account_security/keep', {
    access: 'user',
    ...ON_SECURITY,
    summary: 'Keep a second factor that an operator removes as lost',
    description: 'We email you.',
    answers: [200, message],
    refuses: ['conflict'],
    when: { 409: 'no removal is planned' },
  }).answer(async (c) => (await answers()).keep(c)),
  route('POST /account_security/totp', {
    access: 'user',
    form: { ...ON_SECURITY.form, keeps: { query: 'link', field: 'link' } },
    token: 'always',
    takes: withLink,
    summary: 'Start to add an authenticator app',
    description: [
      '`secret` is base32, for an authenticator app; `uri` is the `otpauth:` address that its QR code holds.',
      'It counts once you confirm it, in the same browser within 10 minutes.',
      'Calling it again makes a new secret.',
      '`link` comes from the emailed link, for admins.',
    ],
    answers: [200, z.object({ secret: z.string(), uri: z.string() })],
    refuses: [...REFUSES_PROOF, 'conflict'],
    when: { 403: 'an admin without a good link', 409: 'you have one', 429: 'twenty changes an hour' },
  }).answer(async (c) => (await answers()).start(c, c.req.valid('json'))),
  route('POST /account_security/totp/confirm', {
    access: 'user',
    ...ON_SECURITY,
    takes: z.object({ code: text }),
    summary: 'Add the authenticator app, with a first code',
    description: [
      'Your first factor comes with ten recovery codes, shown only this once. Later factors come with none.',
      'We email you.',
    ],
    answers: [200, shape.recoveryCodes],
    refuses: ['invalid_code', 'conflict'],
    when: { 401: '`invalid_code`', 409: 'start again', 429: 'thirty an hour' },
  }).answer(async (c) => (await answers()).confirm(c, c.req.valid('json').code)),
  route('DELETE /account_security/totp', {
    access: 'user',
    ...ON_SECURITY,
    takes: proved,
    summary: 'Remove the authenticator app',
    description: ['The last factor takes the recovery codes with it.', 'We email you.'],
    answers: [200, message],
    refuses: [...REFUSES_PROOF, 'not_found', 'too_many'],
  }).answer(async (c) => (await answers()).remove(c, c.req.valid('json'))),
  route('POST /account_security/passkeys/options', {
    access: 'user',
    ...ON_SECURITY,
    takes: withLink,
    summary: 'Start to add a passkey',
    description: [
      '`options` is for `navigator.credentials.create`, within 10 minutes.',
      '`link` comes from the emailed link, for admins who have no factor yet.',
    ],
    answers: [200, options],
    refuses: [...REFUSES_PROOF, 'conflict'],
    when: { 403: 'an admin without a good link', 409: 'you have 20', 429: 'twenty changes an hour' },
  }).answer(async (c) => (await answers()).startPasskey(c, c.req.valid('json'))),
  route('POST /account_security/passkeys', {
    access: 'user',
    ...ON_SECURITY,
    takes: z.object({ name: text, response: passkeyAnswer }),
    summary: 'Save the new passkey',
    description: [
      'Your first factor comes with ten recovery codes. Later factors come with none.',
      '`name` has at most 50 characters.',
      'We email you.',
    ],
    answers: [201, z.extend(shape.passkey, shape.recoveryCodes.shape)],
    refuses: ['invalid', 'invalid_code', 'conflict', 'too_many'],
    when: { 401: "`invalid_code`: it doesn't answer our challenge", 409: 'it took too long, or the passkey is in use' },
  }).answer(async (c) => (await answers()).addPasskey(c, c.req.valid('json'))),
  route('POST /account_security/passkeys/confirm', {
    access: 'user',
    ...ON_SECURITY,
    takes: z.object({ verified: checkbox }),
    mayBeEmpty: true,
    summary: 'Start to prove a passkey as the second factor of another call',
    description: [
      '`options` is for `navigator.credentials.get`, whose answer is the `passkey` of another call.',
      '`verified` (optional): the device must verify its owner, as the console requires.',
    ],
    answers: [200, options],
    when: { 429: 'sixty an hour' },
  }).answer(async (c) => (await answers()).confirmWithPasskey(c, c.req.valid('json').verified)),
  route('DELETE /account_security/passkeys/:id', {
    access: 'user',
    ...ON_SECURITY,
    takes: proved,
    summary: 'Remove a passkey',
    description: ['The last factor takes the recovery codes with it.', 'We email you.'],
    answers: [200, message],
    refuses: [...REFUSES_PROOF, 'not_found', 'too_many'],
  }).answer(async (c) => (await answers()).removePasskey(c, c.req.param('id'), c.req.valid('json'))),
  route('POST /account_security/recovery_codes', {
    access: 'user',
    ...ON_SECURITY,
    takes: proved,
    summary: 'Replace your recovery codes',
    description: ['You get ten.', 'We email you.'],
    answers: [200, shape.recoveryCodes],
    refuses: [...REFUSES_PROOF, 'conflict', 'too_many'],
    when: { 409: 'you have no second factor' },
  }).answer(async (c) => (await answers()).renewCodes(c, c.req.valid('json'))),
]

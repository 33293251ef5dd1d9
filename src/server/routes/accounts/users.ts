import * as z from 'zod/mini'
import {
  CONFIRMATION_SENT,
  CONFIRMED,
  CONFIRMED_NO_TRIAL,
  PROFILE_UPDATED,
  SIGNED_OUT,
  SIGNED_UP,
} from '../../../domain/user.ts'
import * as shape from '../../../domain/wire/accounts.ts'
import { message } from '../../../domain/wire/answers.ts'
import { signIn, signOut } from '../../accounts/sign-in.ts'
import { signedIn } from '../../http/app-env.ts'
import { callerOf, deviceOf } from '../../http/caller.ts'
import { clearCookie } from '../../http/cookies.ts'
import { checkbox, passkeyAnswer, proof, REFUSES_PROOF, text } from '../../http/fields.ts'
import { wantsPage } from '../../http/form-post.ts'
import { attemptOf } from '../../http/known-device.ts'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'
import { answerSignedIn, renewCookie } from '../../http/signed-in.ts'

const credentials = z.object({ user: z.object({ email: text, password: text }) })
const emailOnly = z.object({ user: z.object({ email: text }) })
const account = z.object({
  user: z.object({ name: text, email: text, password: text, password_confirmation: text, terms_of_service: checkbox }),
})
const profile = z.object({
  user: z.object({
    name: z.nullish(z.string()),
    ...proof,
    password: text,
    password_confirmation: text,
  }),
})

/** Loaded when needed, because most isolates confirm nobody. */
const confirmation = () => import('../../accounts/confirmation.ts')

/** Loaded when needed, because most accounts have none. */
const secondFactor = () => import('./security/sign-in.tsx')

/** Sign-up, sign-in, sign-out and your own profile. */
export const users = [
  route('POST /users', {
    access: 'public',
    form: { at: '/sign_up', done: '/sign_in' },
    givesToken: true,
    forAnyone: true,
    takes: account,
    summary: 'Sign up',
    description: [
      'An address that already has an account gets the same response, and its owner gets an email.',
      'Until an address is confirmed, signing up with it again replaces the name and password and ends the earlier links.',
    ],
    answers: [201, message],
    refuses: ['invalid'],
  }).answer(async (c) => {
    const { user } = c.req.valid('json')
    const { signUp } = await import('../../accounts/sign-up.ts')
    await signUp(c.var.ctx, user, callerOf(c))
    return answer(c, { message: SIGNED_UP }, { status: 201, carry: { 'user[email]': user.email } })
  }),
  route('GET /users/confirmation', {
    access: 'public',
    form: { at: '/confirm_email', done: '/sign_in' },
    summary: 'Confirm an email address',
    description: [
      'The free trial starts, unless the mailbox already had one: then `trial` is false.',
      'Repeating it within 24 h returns the same and changes nothing.',
      'A browser that opens it directly (`Accept: text/html`) gets 303 to the next page.',
    ],
    answers: [200, z.extend(message, { trial: z.boolean() })],
    refuses: ['invalid'],
    query: { confirmation_token: 'From the email' },
  }).answer(async (c) => {
    // Mail scanners send HEAD, which must change nothing.
    if (c.req.method === 'HEAD') return c.body(null)
    // A browser that opened the link without our script goes to a page, as after a form.
    if (wantsPage(c)) c.set('form', new URLSearchParams())
    const { confirmEmail } = await confirmation()
    const { email, hasTrial } = await confirmEmail(c.var.ctx, c.req.query('confirmation_token') ?? '')
    const message = hasTrial ? CONFIRMED : CONFIRMED_NO_TRIAL
    return answer(c, { message, trial: hasTrial }, { carry: { 'user[email]': email } })
  }),
  route('POST /users/confirmation', {
    access: 'public',
    form: { at: '/confirm_email', done: '/sign_in' },
    forAnyone: true,
    takes: emailOnly,
    summary: 'Email the link again',
    description: 'The answer is the same for every address.',
    answers: [200, message],
    refuses: ['invalid', 'too_many'],
  }).answer(async (c) => {
    const { resendConfirmation } = await confirmation()
    await resendConfirmation(c.var.ctx, c.req.valid('json').user, callerOf(c))
    return answer(c, { message: CONFIRMATION_SENT })
  }),
  route('POST /users/sign_in', {
    access: 'public',
    form: { at: '/sign_in', done: '/dashboard' },
    token: 'always',
    givesToken: true,
    forAnyone: true,
    takes: credentials,
    summary: 'Sign in a browser',
    description: 'Sets the cookie. `page` is where our own pages go next.',
    answers: [200, z.object({ user: shape.user, page: z.string() })],
    refuses: ['invalid_credentials', 'second_factor_required', 'forbidden', 'invalid', 'too_many'],
    when: { 403: "the address isn't confirmed" },
  }).answer(async (c) => {
    const input = c.req.valid('json').user
    const result = await signIn(c.var.ctx, input, deviceOf(c), attemptOf(c))
    if ('challenge' in result) return (await secondFactor()).ask(c, result)
    return answerSignedIn(c, result)
  }),
  route('GET /sign_in/second_factor', { access: 'public', kind: 'page' }).answer(async (c) =>
    (await secondFactor()).page(c),
  ),
  route('POST /users/sign_in/second_factor', {
    access: 'public',
    form: { at: '/sign_in/second_factor', done: '/dashboard', keeps: { query: 'challenge', field: 'challenge' } },
    token: 'always',
    givesToken: true,
    forAnyone: true,
    takes: z.object({ challenge: text, totp: text, recovery: text, passkey: passkeyAnswer }),
    summary: 'Sign in a browser with a second factor',
    description: 'Takes one of `totp`, `recovery`, and `passkey`, and sets the cookie.',
    answers: [200, z.object({ user: shape.user, page: z.string() })],
    refuses: ['invalid_code', 'invalid', 'too_many'],
    when: { 401: '`invalid_code`, `unauthenticated` (start over)' },
  }).answer(async (c) => (await secondFactor()).finish(c, c.req.valid('json'))),
  route('POST /users/sign_in/passkey/options', {
    access: 'public',
    form: { at: '/sign_in', done: '/sign_in' },
    token: 'always',
    forAnyone: true,
    summary: 'Start to sign in a browser with a passkey alone',
    description: 'The answer is the same for everyone.',
    answers: [200, z.object({ challenge: z.string(), options: z.looseObject({}) })],
    refuses: ['too_many'],
  }).answer(async (c) => (await secondFactor()).passkeyOptions(c)),
  route('POST /users/sign_in/passkey', {
    access: 'public',
    form: { at: '/sign_in', done: '/dashboard' },
    token: 'always',
    givesToken: true,
    forAnyone: true,
    takes: z.object({ challenge: text, response: passkeyAnswer }),
    summary: 'Sign in a browser with a passkey alone',
    description: 'Sets the cookie.',
    answers: [200, z.object({ user: shape.user, page: z.string() })],
    refuses: ['invalid_code', 'forbidden', 'invalid', 'too_many'],
    when: { 401: '`invalid_code`, `unauthenticated` (start over)', 403: "the address isn't confirmed" },
  }).answer(async (c) => (await secondFactor()).finishWithPasskey(c, c.req.valid('json'))),
  route('DELETE /users/sign_out', {
    access: 'user',
    form: { at: '/dashboard', done: '/sign_in' },
    token: 'always',
    givesToken: true,
    summary: 'Sign out',
    answers: [200, message],
  }).answer(async (c) => {
    const { id, user } = signedIn(c)
    await signOut(c.var.ctx, user.id, id)
    clearCookie(c, 'sign_in')
    c.set('tokensFor', null)
    return answer(c, { message: SIGNED_OUT })
  }),
  route('PUT /users', {
    access: 'user',
    form: { at: '/account_overview', done: '/account_overview' },
    token: 'always',
    errorFields: () => ({ status: 'error' }),
    takes: profile,
    summary: 'Change your name or password',
    description: 'A new password ends every other sign-in and every API token, and renews the cookie.',
    answers: [200, z.object({ status: z.literal('ok'), user: shape.user, message: z.string() })],
    refuses: REFUSES_PROOF,
    when: { 422: '`{status: "error"}`', 429: 'ten new passwords an hour' },
  }).answer(async (c) => {
    const { ctx } = c.var
    const current = signedIn(c)
    const { user } = c.req.valid('json')
    const { updateProfile } = await import('../../accounts/profile.ts')
    const updated = await updateProfile(ctx, current, { ...user, name: user.name ?? current.user.name })
    await renewCookie(c, current, updated.renewed)
    return answer(c, { status: 'ok', user: updated.user, message: PROFILE_UPDATED })
  }),
  route('GET /api/v1/users/get_session', {
    access: 'user', // Programs need their user's id to subscribe to /cable.
    scope: 'read',
    givesToken: true,
    errorFields: () => ({ Body: null }),
    byItself: true,
    summary: 'Show who is signed in',
    answers: [200, z.object({ Body: shape.user })],
    when: { 401: '`{Body: null}`' },
  }).answer((c) => c.json({ Body: signedIn(c).user })),
]

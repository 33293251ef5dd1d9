import { Hono } from 'hono'
import * as z from 'zod/mini'
import { normalEmail } from '../../../domain/person.ts'
import {
  CONFIRMATION_SENT,
  CONFIRMED,
  CONFIRMED_NO_TRIAL,
  PROFILE_UPDATED,
  SIGNED_OUT,
  SIGNED_UP,
} from '../../../domain/user.ts'
import { issueSignInToken } from '../../accounts/credentials/sign-in-token.ts'
import { signIn, signOut } from '../../accounts/sign-in.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { body, checkbox, text } from '../../http/body.ts'
import { callerOf, deviceOf } from '../../http/caller.ts'
import { clearCookie, writeCookie } from '../../http/cookies.ts'
import { wantsPage } from '../../http/form-post.ts'
import { knownDevice, rememberDevice } from '../../http/known-device.ts'
import { answer } from '../../http/reply.ts'
import { takeWayBack } from '../../http/way-back.ts'

const credentials = z.object({ user: z.object({ email: text, password: text }) })
const emailOnly = z.object({ user: z.object({ email: text }) })
const account = z.object({
  user: z.object({ name: text, email: text, password: text, password_confirmation: text, terms_of_service: checkbox }),
})
const profile = z.object({
  user: z.object({
    name: z.nullish(z.string()),
    current_password: text,
    password: text,
    password_confirmation: text,
  }),
})

/** Loaded when needed, because most isolates confirm nobody. */
const confirmation = () => import('../../accounts/confirmation.ts')

/** Sign-up, sign-in, sign-out and your own profile. */
export const users = new Hono<AppEnv>()
  .post('/users', body(account), async (c) => {
    const { user } = c.req.valid('json')
    const { signUp } = await import('../../accounts/sign-up.ts')
    await signUp(c.var.ctx, user, callerOf(c))
    return answer(c, { message: SIGNED_UP }, { status: 201, carry: { 'user[email]': user.email } })
  })
  .get('/users/confirmation', async (c) => {
    // Mail scanners send HEAD, which must change nothing.
    if (c.req.method === 'HEAD') return c.body(null)
    // A browser that opened the link without our script goes to a page, as after a form.
    if (wantsPage(c)) c.set('form', new URLSearchParams())
    const { confirmEmail } = await confirmation()
    const { hasTrial } = await confirmEmail(c.var.ctx, c.req.query('confirmation_token') ?? '')
    return answer(c, { message: hasTrial ? CONFIRMED : CONFIRMED_NO_TRIAL, trial: hasTrial })
  })
  .post('/users/confirmation', body(emailOnly), async (c) => {
    const { resendConfirmation } = await confirmation()
    await resendConfirmation(c.var.ctx, c.req.valid('json').user, callerOf(c))
    return answer(c, { message: CONFIRMATION_SENT })
  })
  .post('/users/sign_in', body(credentials), async (c) => {
    const { ctx, signIn: previous } = c.var
    const input = c.req.valid('json').user
    const email = normalEmail(input.email)
    const { user, signIn: next } = await signIn(ctx, input, deviceOf(c), {
      ...callerOf(c),
      knownDevice: knownDevice(c, email),
    })
    writeCookie(c, 'sign_in', await issueSignInToken(ctx, next))
    rememberDevice(c, email)
    // Ends this browser's previous sign-in.
    if (previous) ctx.background(signOut(ctx, previous.user.id, previous.id))
    c.set('tokensFor', user.id)
    const page = takeWayBack(c, user) ?? '/dashboard'
    return answer(c, { user, page }, { to: page })
  })
  .delete('/users/sign_out', async (c) => {
    const { id, user } = signedIn(c)
    await signOut(c.var.ctx, user.id, id)
    clearCookie(c, 'sign_in')
    c.set('tokensFor', null)
    return answer(c, { message: SIGNED_OUT })
  })
  .put('/users', body(profile), async (c) => {
    const { ctx } = c.var
    const current = signedIn(c)
    const { user } = c.req.valid('json')
    const { updateProfile } = await import('../../accounts/profile.ts')
    const updated = await updateProfile(ctx, current, { ...user, name: user.name ?? current.user.name })
    if (updated.signInId !== current.id) {
      const { expiresAt } = current
      const token = await issueSignInToken(ctx, { id: updated.signInId, expiresAt })
      writeCookie(c, 'sign_in', token, Math.floor((expiresAt - ctx.now()) / 1000))
    }
    return answer(c, { status: 'ok', user: updated.user, message: PROFILE_UPDATED })
  })
  .get('/api/v1/users/get_session', (c) => c.json({ Body: signedIn(c).user }))

import { Hono } from 'hono'
import * as z from 'zod/mini'
import { PASSWORD_RESET, RESET_SENT } from '../../../domain/user.ts'
import type { AppEnv } from '../../http/app-env.ts'
import { body, text } from '../../http/body.ts'
import { callerOf } from '../../http/caller.ts'
import { clearCookie } from '../../http/cookies.ts'
import { rememberDevice } from '../../http/known-device.ts'
import { answer } from '../../http/reply.ts'

const email = z.object({ user: z.object({ email: text }) })
const newPassword = z.object({
  user: z.object({ reset_password_token: text, password: text, password_confirmation: text }),
})

/** Loaded when needed, because most isolates reset none. */
const reset = () => import('../../accounts/password-reset.ts')

/** Resets a forgotten password: a mailed link, then the new password. */
export const passwords = new Hono<AppEnv>()
  .post('/users/password', body(email), async (c) => {
    const { requestPasswordReset } = await reset()
    await requestPasswordReset(c.var.ctx, c.req.valid('json').user, callerOf(c))
    return answer(c, { message: RESET_SENT })
  })
  .put('/users/password', body(newPassword), async (c) => {
    const { resetPassword } = await reset()
    const { email } = await resetPassword(c.var.ctx, c.req.valid('json').user)
    clearCookie(c, 'sign_in')
    // Count this browser's guesses separately, so that a guesser elsewhere can't lock its owner out.
    rememberDevice(c, email)
    return answer(c, { message: PASSWORD_RESET })
  })

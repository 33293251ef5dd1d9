import { Hono } from 'hono'
import * as z from 'zod/mini'
import { PASSWORD_RESET, RESET_SENT } from '../../domain/user.ts'
import { answer } from '../answer.ts'
import type { AppEnv } from '../app-env.ts'
import { clearCookie } from '../credentials/cookies.ts'
import { callerOf } from '../credentials/device.ts'
import { rememberDevice } from '../credentials/known-device.ts'
import { requestPasswordReset, resetPassword } from '../services/password-reset.ts'
import { body, text } from './body.ts'

const email = z.object({ user: z.object({ email: text }) })
const newPassword = z.object({
  user: z.object({ reset_password_token: text, password: text, password_confirmation: text }),
})

/** A forgotten password: a mailed link, and the new password behind it. */
export const passwords = new Hono<AppEnv>()
  .post('/users/password', body(email), async (c) => {
    await requestPasswordReset(c.var.ctx, c.req.valid('json').user, callerOf(c))
    return answer(c, { message: RESET_SENT })
  })
  .put('/users/password', body(newPassword), async (c) => {
    const { email } = await resetPassword(c.var.ctx, c.req.valid('json').user)
    clearCookie(c, 'sign_in')
    // Its next guesses are counted by themselves, so that a guesser elsewhere does not keep it out.
    rememberDevice(c, email)
    return answer(c, { message: PASSWORD_RESET })
  })

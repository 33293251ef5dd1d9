import * as z from 'zod/mini'
import { PASSWORD_RESET, RESET_SENT } from '../../../domain/user.ts'
import { message } from '../../../domain/wire/answers.ts'
import { callerOf } from '../../http/caller.ts'
import { clearCookie } from '../../http/cookies.ts'
import { text } from '../../http/fields.ts'
import { rememberDevice } from '../../http/known-device.ts'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'

const email = z.object({ user: z.object({ email: text }) })
const newPassword = z.object({
  user: z.object({ reset_password_token: text, password: text, password_confirmation: text }),
})

/** Loaded when needed, because most isolates reset none. */
const reset = () => import('../../accounts/password-reset.ts')

/** Resets a forgotten password: a mailed link, then the new password. */
export const passwords = [
  route('POST /users/password', {
    access: 'public',
    form: { at: '/forgot_password', done: '/sign_in' },
    forAnyone: true,
    takes: email,
    summary: 'Email a link to reset a password',
    description: 'The answer is the same for every address. The link works once, within an hour.',
    answers: [200, message],
    refuses: ['invalid', 'too_many'],
  }).answer(async (c) => {
    const { requestPasswordReset } = await reset()
    await requestPasswordReset(c.var.ctx, c.req.valid('json').user, callerOf(c))
    return answer(c, { message: RESET_SENT })
  }),
  route('PUT /users/password', {
    access: 'public',
    form: {
      at: '/reset_password',
      done: '/sign_in',
      keeps: { query: 'reset_password_token', field: 'user[reset_password_token]' },
    },
    token: 'always',
    forAnyone: true,
    takes: newPassword,
    summary: 'Reset a password',
    description: 'Ends every sign-in and API token, forgives wrong guesses, and confirms the address.',
    answers: [200, message],
    refuses: ['invalid'],
  }).answer(async (c) => {
    const { resetPassword } = await reset()
    const { email, proved } = await resetPassword(c.var.ctx, c.req.valid('json').user)
    clearCookie(c, 'sign_in')
    // Count this browser's guesses separately, so that someone guessing elsewhere can't lock its owner out. Not if a
    // second factor follows: each reset would give anyone who reads the mailbox new guesses at it.
    if (!proved.hasFactor) rememberDevice(c, email, proved)
    return answer(c, { message: PASSWORD_RESET })
  }),
]

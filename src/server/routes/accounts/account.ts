import { Hono } from 'hono'
import * as z from 'zod/mini'
import { ACCOUNT_CLOSED, DEVICE_SIGNED_OUT, SIGNED_OUT_EVERYWHERE } from '../../../domain/user.ts'
import { endSignIn, listSignIns, signOutEverywhere } from '../../accounts/sign-ins.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { body, text } from '../../http/body.ts'
import { clearCookie } from '../../http/cookies.ts'
import { answer } from '../../http/reply.ts'

const confirmation = z.object({ user: z.object({ current_password: text }) })

/** Signed-in devices, personal data, and closing the account. */
export const account = new Hono<AppEnv>()
  .get('/api/v1/users/sign_ins', async (c) => c.json({ sign_ins: await listSignIns(c.var.ctx, signedIn(c)) }))
  .delete('/api/v1/users/sign_ins/:id', async (c) => {
    const { id, user } = signedIn(c)
    const device = c.req.param('id')
    await endSignIn(c.var.ctx, user.id, device)
    if (device === id) clearCookie(c, 'sign_in')
    return answer(c, { message: DEVICE_SIGNED_OUT })
  })
  .delete('/api/v1/users/sign_ins', async (c) => {
    await signOutEverywhere(c.var.ctx, signedIn(c).user.id)
    clearCookie(c, 'sign_in')
    return answer(c, { message: SIGNED_OUT_EVERYWHERE })
  })
  .get('/api/v1/users/export', async (c) => {
    c.header('Content-Disposition', 'attachment; filename="proving-ground-data.json"')
    c.header('Content-Type', 'application/json')
    const [{ collectPersonalData }, { streamWithLogs }] = await Promise.all([
      import('../../accounts/personal-data.ts'),
      import('../../accounts/personal-logs.ts'),
    ])
    const { ctx } = c.var
    return c.body(streamWithLogs(ctx, await collectPersonalData(ctx, signedIn(c).user)))
  })
  .delete('/users', body(confirmation), async (c) => {
    const { closeAccount } = await import('../../accounts/close-account.ts')
    await closeAccount(c.var.ctx, signedIn(c).user, c.req.valid('json').user)
    clearCookie(c, 'sign_in')
    return answer(c, { message: ACCOUNT_CLOSED })
  })

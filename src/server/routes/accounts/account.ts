import * as z from 'zod/mini'
import { ACCOUNT_CLOSED, DEVICE_SIGNED_OUT, SIGNED_OUT_EVERYWHERE } from '../../../domain/user.ts'
import * as shape from '../../../domain/wire/accounts.ts'
import { message } from '../../../domain/wire/answers.ts'
import { signedIn } from '../../http/app-env.ts'
import { clearCookie } from '../../http/cookies.ts'
import { proof, REFUSES_PROOF } from '../../http/fields.ts'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'

const confirmation = z.object({ user: z.object(proof) })

/** Loaded when needed, because people seldom look at their devices. */
const signIns = () => import('../../accounts/sign-ins.ts')

/** Signed-in devices, personal data, and closing the account. */
export const account = [
  route('GET /api/v1/users/sign_ins', {
    access: 'user',
    byItself: true,
    summary: 'List your sign-ins',
    answers: [200, z.object({ sign_ins: z.array(shape.signIn) })],
  }).answer(async (c) => {
    const { listSignIns } = await signIns()
    return c.json({ sign_ins: await listSignIns(c.var.ctx, signedIn(c)) })
  }),
  route('DELETE /api/v1/users/sign_ins/:id', {
    access: 'user',
    form: { at: '/devices', done: '/devices' },
    token: 'always',
    summary: 'End a sign-in',
    answers: [200, message],
    refuses: ['not_found'],
  }).answer(async (c) => {
    const { id, user } = signedIn(c)
    const device = c.req.param('id')
    const { endSignIn } = await signIns()
    await endSignIn(c.var.ctx, user.id, device)
    if (device === id) clearCookie(c, 'sign_in')
    return answer(c, { message: DEVICE_SIGNED_OUT })
  }),
  route('DELETE /api/v1/users/sign_ins', {
    access: 'user',
    form: { at: '/devices', done: '/sign_in' },
    token: 'always',
    summary: 'Sign out everywhere',
    answers: [200, message],
  }).answer(async (c) => {
    const { signOutEverywhere } = await signIns()
    await signOutEverywhere(c.var.ctx, signedIn(c).user.id)
    clearCookie(c, 'sign_in')
    return answer(c, { message: SIGNED_OUT_EVERYWHERE })
  }),
  route('GET /api/v1/users/export', {
    access: 'user',
    summary: 'Download your data',
    description: [
      'Everything we keep about you, as JSON: of `mails` only the subjects, and the `logs` of the latest 100 servers.',
      'It has no secrets and no registry logins: `GET /api/v1/secrets` and `GET /api/v1/registries` list their names.',
    ],
    answers: [200, shape.personalData],
  }).answer(async (c) => {
    c.header('Content-Disposition', 'attachment; filename="proving-ground-data.json"')
    c.header('Content-Type', 'application/json')
    const [{ collectPersonalData }, { textWithLogs }, { whileSignedIn }] = await Promise.all([
      import('../../accounts/personal-data.ts'),
      import('../../accounts/personal-logs.ts'),
      import('../../door/while-signed-in.ts'),
    ])
    const { ctx } = c.var
    const { user } = signedIn(c)
    return c.body(whileSignedIn(c, textWithLogs(ctx, user, await collectPersonalData(ctx, user))))
  }),
  route('DELETE /users', {
    access: 'user',
    form: { at: '/close_account', done: '/sign_in' },
    token: 'always',
    takes: confirmation,
    summary: 'Close your account',
    description: 'This stops its server. The address is free after 30 days.',
    answers: [200, message],
    refuses: [...REFUSES_PROOF, 'provider_failed'],
  }).answer(async (c) => {
    const { closeAccount } = await import('../../accounts/close-account.ts')
    await closeAccount(c.var.ctx, signedIn(c).user, c.req.valid('json').user)
    clearCookie(c, 'sign_in')
    return answer(c, { message: ACCOUNT_CLOSED })
  }),
]

import type { Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { isScope, TOKEN_REVOKED } from '../../../domain/api-token.ts'
import { CLIENT_ID, DEVICE_GRANT, DEVICE_LOGIN_MS, POLL_EVERY_MS, readUserCode } from '../../../domain/device-code.ts'
import { AppError } from '../../../domain/error.ts'
import * as shape from '../../../domain/wire/accounts.ts'
import { message } from '../../../domain/wire/answers.ts'
import type { ActivateProps } from '../../../pages/Activate.tsx'
import { getApiToken, revokeApiToken } from '../../accounts/api-tokens.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { callerOf, deviceOf } from '../../http/caller.ts'
import { proof, REFUSES_PROOF, text } from '../../http/fields.ts'
import { takeFlash } from '../../http/flash.ts'
import { isFormPost } from '../../http/form-post.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'
import { siteOrigin } from '../../runtime/context.ts'

const APPROVED = 'All set. Go back to your terminal.'
const DENIED = 'Declined. That program gets no access.'

const decision = z.object({ user_code: text, decision: text, name: text, ...proof })

/** People rarely sign in a command line, so its code doesn't slow the Worker's start. */
const logins = () => import('../../accounts/device-logins.ts')

/** Signing in a command line (RFC 8628), and what a program can see and end: its own token. */
export const deviceLogin = [
  // OAuth's own protocol (RFC 8628), for programs that have no token yet.
  route('POST /oauth/device_authorization', { access: 'public', fromPrograms: true }).answer(async (c) => {
    const asked = await readParameters(c)
    const scope = asked.get('scope') || 'operate'
    if (asked.get('client_id') !== CLIENT_ID) return refuse(c, 'invalid_client')
    if (!isScope(scope)) return refuse(c, 'invalid_scope')
    const name = asked.get('device_name') ?? ''
    const { address } = deviceOf(c)
    const { requestDeviceLogin } = await logins()
    const { deviceCode, userCode } = await requestDeviceLogin(c.var.ctx, callerOf(c), { scope, name, address })
    const page = `${siteOrigin(c.var.ctx)}/activate`
    return c.json({
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: DEVICE_LOGIN_MS / 1000,
      interval: POLL_EVERY_MS / 1000,
    })
  }),
  route('POST /oauth/token', { access: 'public', fromPrograms: true }).answer(async (c) => {
    const asked = await readParameters(c)
    if (asked.get('client_id') !== CLIENT_ID) return refuse(c, 'invalid_client')
    if (asked.get('grant_type') !== DEVICE_GRANT) return refuse(c, 'unsupported_grant_type')
    const { pollDeviceLogin } = await logins()
    const granted = await pollDeviceLogin(c.var.ctx, asked.get('device_code') ?? '')
    if (typeof granted === 'string') return refuse(c, granted)
    const { token, scope, expiresAt } = granted
    const seconds = Math.floor((expiresAt - c.var.ctx.now()) / 1000)
    return c.json({ access_token: token, token_type: 'Bearer', expires_in: seconds, scope })
  }),
  route('GET /activate', { access: 'user', kind: 'page' }).answer(async (c) => {
    const [{ Activate }, { getDeviceLogin }] = await Promise.all([import('../../../pages/Activate.tsx'), logins()])
    const flash = takeFlash(c)
    const typed = flash?.values?.user_code ?? c.req.query('user_code') ?? ''
    const form = { csrfToken: csrfToken(c), typed, here: deviceOf(c).address }
    const page = (props: Pick<ActivateProps, 'flash' | 'login'>) =>
      renderPage(c, { title: 'Approve a command line' }, <Activate {...form} {...props} />)
    if (!typed || flash?.kind === 'success' || flash?.field === 'user_code') return page({ flash, login: null })
    try {
      return page({ flash, login: await getDeviceLogin(c.var.ctx, signedIn(c).user, readUserCode(typed)) })
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== 'not_found' && error.code !== 'too_many')) throw error
      return page({ flash: { kind: 'danger', message: error.message, field: 'user_code' }, login: null })
    }
  }),
  route('POST /activate', {
    access: 'user',
    form: { at: '/activate', done: '/activate' },
    token: 'always',
    takes: decision,
    summary: 'Approve a command line, or refuse it',
    description: '`decision` is `approve`, which needs `name` and `current_password`, or `deny`.',
    answers: [200, message],
    refuses: [...REFUSES_PROOF, 'not_found', 'conflict', 'too_many'],
    when: { 404: 'a wrong or old code', 409: 'the name is taken' },
  }).answer(async (c) => {
    const { ctx } = c.var
    const { user_code, decision: decided, name, ...proved } = c.req.valid('json')
    const { approveDeviceLogin, denyDeviceLogin } = await logins()
    const userCode = readUserCode(user_code)
    if (decided === 'deny') {
      await denyDeviceLogin(ctx, signedIn(c).user, userCode)
      return answer(c, { message: DENIED })
    }
    if (decided !== 'approve') throw new AppError('invalid', 'Please approve or decline.')
    await approveDeviceLogin(ctx, signedIn(c).user, { userCode, name, ...proved })
    return answer(c, { message: APPROVED })
  }),
  route('GET /api/v1/api_token', {
    access: 'user',
    scope: 'read',
    byItself: true,
    summary: 'Show the API token in use',
    answers: [200, z.object({ api_token: shape.apiToken })],
    refuses: ['not_found'],
    when: { 404: 'without one' },
  }).answer(async (c) => {
    const { user, id } = signedIn(c)
    return c.json({ api_token: await getApiToken(c.var.ctx, user.id, id) })
  }),
  route('DELETE /api/v1/api_token', {
    access: 'user',
    scope: 'read',
    token: 'always',
    summary: 'Revoke the API token in use',
    answers: [200, message],
    refuses: ['not_found'],
    when: { 404: 'without one' },
  }).answer(async (c) => {
    const { user, id } = signedIn(c)
    await revokeApiToken(c.var.ctx, user.id, id)
    return c.json({ message: TOKEN_REVOKED })
  }),
]

/** OAuth sends forms. @throws malformed */
async function readParameters(c: HonoContext<AppEnv>): Promise<URLSearchParams> {
  if (!isFormPost(c)) throw new AppError('malformed', 'Send a form: application/x-www-form-urlencoded.')
  return new URLSearchParams(await c.req.text())
}

const WHY: Record<string, string> = {
  invalid_client: `The client_id must be ${CLIENT_ID}.`,
  invalid_scope: 'The scope must be read or operate.',
  unsupported_grant_type: `The grant_type must be ${DEVICE_GRANT}.`,
  invalid_grant: 'Unknown device_code.',
  authorization_pending: 'Waiting for an answer. Try again later.',
  slow_down: 'Too many requests. Wait 5 seconds longer between them.',
  access_denied: 'The request was refused.',
  expired_token: 'The code has expired or was used. Request a new one.',
}

/** With OAuth's own error codes (RFC 6749, 5.2), which programs know. */
function refuse(c: HonoContext<AppEnv>, error: string): Response {
  return c.json({ error, error_description: WHY[error] }, error === 'invalid_client' ? 401 : 400)
}

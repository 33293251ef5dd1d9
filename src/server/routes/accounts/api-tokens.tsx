import type { Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { DEFAULT_TOKEN_DAYS, TOKEN_REVOKED } from '../../../domain/api-token.ts'
import * as shape from '../../../domain/wire.ts'
import type { MadeToken } from '../../../pages/ApiTokens.tsx'
import { createApiToken, listApiTokens, revokeApiToken } from '../../accounts/api-tokens.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { numberOr, proof, REFUSES_PROOF, text } from '../../http/fields.ts'
import { takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'

const wanted = z.object({
  name: text,
  scope: text,
  days: numberOr(DEFAULT_TOKEN_DAYS),
  ...proof,
})

export const apiTokens = [
  route('GET /api_tokens', { access: 'user', kind: 'page', ahead: 'press' }).answer((c) => page(c, null)),
  route('POST /api_tokens', {
    access: 'user',
    form: { at: '/api_tokens', done: '/api_tokens' },
    token: 'always',
    takes: wanted,
    summary: 'Create an API token',
    answers: [201, z.extend(shape.apiToken, { token: z.string() })],
    refuses: [...REFUSES_PROOF, 'conflict'],
  }).answer(async (c) => {
    const made = await createApiToken(c.var.ctx, signedIn(c).user, c.req.valid('json'))
    // Not a redirect: only this answer shows the token. Sending the form again finds its name taken.
    return c.get('form') ? page(c, made) : c.json(made, 201)
  }),
  route('DELETE /api_tokens/:id', {
    access: 'user',
    form: { at: '/api_tokens', done: '/api_tokens' },
    token: 'always',
    summary: 'Revoke an API token',
    answers: [200, shape.message],
    refuses: ['not_found'],
  }).answer(async (c) => {
    await revokeApiToken(c.var.ctx, signedIn(c).user.id, c.req.param('id'))
    return answer(c, { message: TOKEN_REVOKED })
  }),
]

async function page(c: HonoContext<AppEnv>, made: MadeToken | null): Promise<Response> {
  const { ApiTokens } = await import('../../../pages/ApiTokens.tsx')
  const tokens = await listApiTokens(c.var.ctx, signedIn(c).user.id)
  const form = { csrfToken: csrfToken(c), flash: takeFlash(c), tokens, made }
  return renderPage(
    c,
    { title: 'API tokens', assets: made ? 'secrets' : 'app' },
    <ApiTokens {...form} />,
    made ? 201 : 200,
  )
}

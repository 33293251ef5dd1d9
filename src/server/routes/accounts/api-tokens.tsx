import { Hono, type Context as HonoContext } from 'hono'
import * as z from 'zod/mini'
import { DEFAULT_TOKEN_DAYS, TOKEN_REVOKED } from '../../../domain/api-token.ts'
import type { MadeToken } from '../../../pages/ApiTokens.tsx'
import { createApiToken, listApiTokens, revokeApiToken } from '../../accounts/api-tokens.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { body, numberOr, text } from '../../http/body.ts'
import { takeFlash } from '../../http/flash.ts'
import { csrfToken } from '../../http/middleware/csrf.ts'
import { renderPage } from '../../http/render.tsx'
import { answer } from '../../http/reply.ts'

const wanted = z.object({
  name: text,
  scope: text,
  days: numberOr(DEFAULT_TOKEN_DAYS),
  current_password: text,
})

export const apiTokens = new Hono<AppEnv>()
  .get('/api_tokens', (c) => page(c, null))
  .post('/api_tokens', body(wanted), async (c) => {
    const made = await createApiToken(c.var.ctx, signedIn(c).user, c.req.valid('json'))
    // Not a redirect: only this answer shows the token. Sending the form again finds its name taken.
    return c.get('form') ? page(c, made) : c.json(made, 201)
  })
  .delete('/api_tokens/:id', async (c) => {
    await revokeApiToken(c.var.ctx, signedIn(c).user.id, c.req.param('id'))
    return answer(c, { message: TOKEN_REVOKED })
  })

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

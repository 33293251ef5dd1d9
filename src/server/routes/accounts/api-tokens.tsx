import * as z from 'zod/mini'
import { DEFAULT_TOKEN_DAYS, TOKEN_REVOKED } from '../../../domain/api-token.ts'
import * as shape from '../../../domain/wire/accounts.ts'
import { message } from '../../../domain/wire/answers.ts'
import { createApiToken, revokeApiToken } from '../../accounts/api-tokens.ts'
import { signedIn } from '../../http/app-env.ts'
import { numberOr, proof, REFUSES_PROOF, text } from '../../http/fields.ts'
import { answer } from '../../http/reply.ts'
import { route } from '../../http/route.ts'

const ON_PAGE = { at: '/settings/developers#api_tokens', done: '/settings/developers#api_tokens' }
const wanted = z.object({
  name: text,
  scope: text,
  days: numberOr(DEFAULT_TOKEN_DAYS),
  ...proof,
})

export const apiTokens = [
  route('POST /api_tokens', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    takes: wanted,
    summary: 'Create an API token',
    description: [
      'This is the only time you see `token`.',
      '`scope` is `read` or `operate`; `days` is from 1 to 365, 90 by default.',
      'We email you.',
    ],
    answers: [201, z.extend(shape.apiToken, { token: z.string() })],
    refuses: [...REFUSES_PROOF, 'conflict'],
    when: { 409: 'the name is taken, or you have 20', 429: 'ten an hour' },
  }).answer(async (c) => {
    const made = await createApiToken(c.var.ctx, signedIn(c).user, c.req.valid('json'))
    // Not a redirect: only this answer shows the token. Sending the form again finds its name taken.
    return c.get('form') ? (await import('./settings/answers.tsx')).developers(c, made) : c.json(made, 201)
  }),
  route('DELETE /api_tokens/:id', {
    access: 'user',
    form: ON_PAGE,
    token: 'always',
    summary: 'Revoke an API token',
    answers: [200, message],
    refuses: ['not_found'],
  }).answer(async (c) => {
    await revokeApiToken(c.var.ctx, signedIn(c).user.id, c.req.param('id'))
    return answer(c, { message: TOKEN_REVOKED })
  }),
]

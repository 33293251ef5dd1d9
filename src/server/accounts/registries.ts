import type { InferInput } from 'valibot'
import { MOST_LOGINS, registryHost, registryLoginForm, TOO_MANY_LOGINS } from '../../domain/registry-login.ts'
import type { RegistryLogin, User } from '../../domain/wire/accounts.ts'
import { IS_LOGIN } from '../fleet/secrets.ts'
import { registryMail } from '../mail/secret-letters.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import type { Proof } from './credentials/current-password.ts'
import { dropSecret, type Kind, keepSecret } from './kept-secrets.ts'

const kindOf = (ctx: Context): Kind => ({
  is: IS_LOGIN,
  most: MOST_LOGINS,
  tooMany: TOO_MANY_LOGINS,
  mail: (host, what) => registryMail(siteOrigin(ctx), host, what),
})

/** @throws what `keepSecret` does */
export async function putRegistry(
  ctx: Context,
  user: User,
  input: InferInput<typeof registryLoginForm> & Proof,
): Promise<RegistryLogin> {
  const { host, username, token: value } = requireValid(registryLoginForm, input)
  return {
    host,
    username,
    updated_at: await keepSecret(ctx, user, kindOf(ctx), { name: host, username, value, proof: input }),
  }
}

/** @throws not_found, also for someone else's */
export function removeRegistry(ctx: Context, user: User, host: string): Promise<void> {
  return dropSecret(ctx, user, kindOf(ctx), registryHost(host), 'Registry login not found.')
}

import type { InferInput } from 'valibot'
import { MOST_SECRETS } from '../../domain/run-wishes.ts'
import { secretForm, TOO_MANY_SECRETS } from '../../domain/secret.ts'
import type { StoredSecret, User } from '../../domain/wire/accounts.ts'
import { IS_VALUE } from '../fleet/secrets.ts'
import { secretMail } from '../mail/secret-letters.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import type { Proof } from './credentials/current-password.ts'
import { dropSecret, type Kind, keepSecret } from './kept-secrets.ts'

const kindOf = (ctx: Context): Kind => ({
  is: IS_VALUE,
  most: MOST_SECRETS,
  tooMany: TOO_MANY_SECRETS,
  mail: (name, what) => secretMail(siteOrigin(ctx), name, what),
})

/** @throws what `keepSecret` does */
export async function putSecret(
  ctx: Context,
  user: User,
  input: InferInput<typeof secretForm> & Proof,
): Promise<StoredSecret> {
  const { name, value } = requireValid(secretForm, input)
  return { name, updated_at: await keepSecret(ctx, user, kindOf(ctx), { name, username: null, value, proof: input }) }
}

/** @throws not_found, also for someone else's */
export function removeSecret(ctx: Context, user: User, name: string): Promise<void> {
  return dropSecret(ctx, user, kindOf(ctx), name, 'Secret not found.')
}

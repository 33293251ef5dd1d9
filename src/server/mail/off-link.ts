import { sql } from 'drizzle-orm'
import { AppError } from '../../domain/error.ts'
import { isMailKind, type MailKind } from '../../domain/notice.ts'
import { isSignature, signatureOf } from '../crypto/keys.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'

/** A link in an email that turns off emails of one kind for one account, without a sign-in. */
export type OffLink = { of: string; kind: string; key: string }

/** Its key does nothing else, and we keep it nowhere. */
export function offUrl(ctx: Pick<Context, 'config'>, userId: string, kind: MailKind): string {
  const key = signatureOf(ctx.config.secretKey, 'mail-off', JSON.stringify([userId, kind]))
  return siteOrigin(ctx) + offPath({ of: userId, kind, key: key.toString('base64url') })
}

export function offPath(link: OffLink): string {
  return `/mails/off?${new URLSearchParams(link)}`
}

/** What the link turns off. @throws not_found */
export function getMailKindOfLink({ config }: Pick<Context, 'config'>, { of, kind, key }: OffLink): MailKind {
  const given = Buffer.from(key, 'base64url')
  if (!isMailKind(kind) || !isSignature(given, config.secretKey, 'mail-off', JSON.stringify([of, kind])))
    throw new AppError('not_found', "This link doesn't work. Copy the whole address from the email.")
  return kind
}

/** Turns them off. Repeating it changes nothing. @throws not_found */
export async function turnOffMail(ctx: Pick<Context, 'db' | 'config'>, link: OffLink): Promise<MailKind> {
  const kind = getMailKindOfLink(ctx, link)
  await ctx.db.run(sql`UPDATE users SET muted_mails = json_insert(muted_mails, '$[#]', ${kind})
    WHERE id = ${link.of} AND closed_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM json_each(users.muted_mails) WHERE value = ${kind})`)
  return kind
}

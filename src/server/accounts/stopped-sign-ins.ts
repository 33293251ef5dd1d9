import { asc, eq, lte, sql } from 'drizzle-orm'
import { writeBatch } from '../../../db/client.ts'
import { signInChallenges, users } from '../../../db/schema/accounts.ts'
import { CHALLENGE_MINUTES } from '../../domain/factor.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/instant.ts'
import { networkOf } from '../limits/network.ts'
import { STOPPED_MAILS, stoppedSignInMail } from '../mail/factor-letters.ts'
import { fewToday, mailQuery } from '../mail/outbox.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { noteRefusedQuery } from './refused-sign-ins.ts'

const AT_ONCE = 50

/**
 * Tells owners of sign-ins with the right password that ended at the second step: on Activity, and unless it was a known
 * browser, by email, once a day for each network. Safe to repeat: each is one batch, which its own row allows once. Run by cron.
 */
export async function noteStoppedSignIns(ctx: Context): Promise<void> {
  const over = await ctx.db
    .select({ challenge: signInChallenges, email: users.email })
    .from(signInChallenges)
    .innerJoin(users, eq(users.id, signInChallenges.userId))
    .where(lte(signInChallenges.expiresAt, ctx.now()))
    // Everyone's first before anyone's second, so no one fills a round. The plus keeps the index by end.
    .orderBy(
      sql`row_number() OVER (PARTITION BY +${signInChallenges.userId} ORDER BY ${signInChallenges.expiresAt})`,
      asc(signInChallenges.expiresAt),
    )
    .limit(AT_ONCE)
  await fourAtOnce(over, async ({ challenge, email }) => {
    const { hash, userId, tries, expiresAt, newBrowser, userAgent, address } = challenge
    const device = { userAgent, address }
    const at = expiresAt - CHALLENGE_MINUTES * MINUTE_MS
    const isLeft = sql`EXISTS (SELECT 1 FROM sign_in_challenges WHERE hash = ${hash})`
    const mail = stoppedSignInMail(siteOrigin(ctx), { ...device, at })
    const mayMail = sql`${isLeft} AND ${newBrowser} AND ${fewToday(ctx, sql`${email}`, 'sign_in_stopped', STOPPED_MAILS)}`
    const cause = `stopped sign-in ${userId} ${address && networkOf(address)} ${Math.floor(at / DAY_MS)}`
    // Wrong answers were counted one by one.
    const isQuiet = sql`id = ${userId} AND ${tries} = 0 AND ${isLeft}`
    await writeBatch(ctx.db, [
      noteRefusedQuery(ctx, 'answer', isQuiet, device, at),
      mailQuery(ctx, email, mail, mayMail, cause),
      ctx.db.delete(signInChallenges).where(eq(signInChallenges.hash, hash)),
    ])
  })
}

import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { writeBatch } from '../../../db/client.ts'
import {
  factorRemovals,
  passkeyChallenges,
  passkeys,
  recoveryCodes,
  refusedSignIns,
  signInChallenges,
  totps,
  users,
} from '../../../db/schema/accounts.ts'
import { environments, runs, secrets } from '../../../db/schema/fleet.ts'
import { lineGroupPeople } from '../../../db/schema/line.ts'
import { notices } from '../../../db/schema/mail.ts'
import { AppError } from '../../domain/error.ts'
import { DAY_MS } from '../../domain/instant.ts'
import { CLOSED_DAYS } from '../../domain/retention.ts'
import { currentPasswordForm } from '../../domain/user.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { dueQuery } from '../billing/bills/close-cycles.ts'
import { IS_UNPAID } from '../billing/bills/debts.ts'
import { closeOpenCheckout } from '../billing/plans/checkout.ts'
import { deleteWebhooksQueries } from '../events/outbox.ts'
import { leaveQueries } from '../fleet/line/leave.ts'
import { requestStop } from '../fleet/stop-run.ts'
import { limitPerson } from '../limits/limits.ts'
import { accountClosedMail } from '../mail/account-letters.ts'
import { deliverMail, mailQuery } from '../mail/outbox.ts'
import type { Context } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'
import { fourAtOnce } from '../runtime/four-at-once.ts'
import { revokeTokensQuery } from './api-tokens.ts'
import { type Proof, requireCurrentPassword, spendProof } from './credentials/current-password.ts'

const MOST_AT_ONCE = 100

/**
 * Sets the plan to end with its period, stops the user's server, ends every sign-in, API token, and link, deletes
 * the webhooks, notices, own environments, secrets, second factors, and files, and closes the account. Bills stay; usage so far is billed within minutes.
 * @throws invalid, too_many; unavailable or provider_failed if we couldn't close a checkout page or cancel
 * the plan: then nothing is closed
 */
export async function closeAccount(
  ctx: Context,
  user: User,
  input: InferInput<typeof currentPasswordForm> & Proof,
): Promise<void> {
  requireValid(currentPasswordForm, input)
  await limitPerson(ctx, 'close_account', user.id)
  const proven = await requireCurrentPassword(ctx, user.id, input)
  await closeOpenCheckout(ctx, user.id)
  await endPlan(ctx, user)
  await spendProof(ctx, proven)
  const channel = ctx.channel(user.id)
  await channel.arm(user.id)
  // Once before closing, so that a crash can't leave a closed account with a running server, and once after,
  // in case a server started in between.
  await stopLiveServer(ctx, user.id)
  const now = ctx.now()
  const { chargeAnswerQueries } = await import('../billing/bills/charge-consent.ts')
  await writeBatch(ctx.db, [
    // They can't withdraw their consent anymore, so it ends here: nothing tries their card again.
    ...chargeAnswerQueries(ctx, false, sql`id = ${user.id} AND closed_at IS NULL`),
    mailQuery(
      ctx,
      user.email,
      accountClosedMail(),
      sql`EXISTS (SELECT 1 FROM users WHERE id = ${user.id} AND closed_at IS NULL)`,
    ),
    // The open cycle ends here; bill it while we still have the address.
    ctx.db.run(sql`UPDATE users SET closed_at = ${now} WHERE id = ${user.id} AND closed_at IS NULL`),
    dueQuery(ctx.db, user.id, now),
    // The next trigger ends its plan at Stripe.
    ctx.db.run(sql`UPDATE subscriptions SET check_at = ${now} WHERE user_id = ${user.id} AND check_at IS NOT NULL`),
    ctx.db.run(sql`UPDATE sign_ins SET revoked_at = ${now} WHERE user_id = ${user.id} AND revoked_at IS NULL`),
    revokeTokensQuery(ctx, user.id),
    ...deleteWebhooksQueries(ctx, sql`user_id = ${user.id}`),
    ...leaveQueries(ctx, user.id),
    ctx.db.delete(lineGroupPeople).where(eq(lineGroupPeople.email, user.email)),
    ctx.db.delete(environments).where(eq(environments.userId, user.id)),
    ...[
      secrets,
      totps,
      passkeys,
      recoveryCodes,
      signInChallenges,
      passkeyChallenges,
      refusedSignIns,
      factorRemovals,
    ].map((table) => ctx.db.delete(table).where(eq(table.userId, user.id))),
    // The next triggers delete their files, and the logs of their servers.
    ctx.db.run(sql`UPDATE file_folders SET look_at = 0 WHERE user_id = ${user.id}`),
    ctx.db.delete(notices).where(eq(notices.userId, user.id)),
    ctx.db.run(sql`UPDATE email_tokens SET used_at = ${now} WHERE user_id = ${user.id} AND used_at IS NULL`),
  ])
  await stopLiveServer(ctx, user.id)
  ctx.background(Promise.all([channel.disconnect('all'), channel.wake(user.id), deliverMail(ctx)]))
}

/** Nothing may renew once they can't sign in to cancel it. */
async function endPlan(ctx: Context, user: User): Promise<void> {
  try {
    const { cancelAtPeriodEnd } = await import('../billing/plans/cancel-plan.ts')
    await cancelAtPeriodEnd(ctx, user)
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'not_found')) throw error
  }
}

async function stopLiveServer(ctx: Context, userId: string): Promise<void> {
  const live = await ctx.db
    .select()
    .from(runs)
    .where(and(eq(runs.userId, userId), isNull(runs.endedAt)))
  for (const run of live) await requestStop(ctx, run, ctx.now())
}

/** Stops servers that a failed closing left behind: their owners can't sign in to stop them, and won't pay for them. Run by cron. */
export async function stopServersOfClosed(ctx: Context): Promise<void> {
  const left = await ctx.db
    .select({ id: runs.id, userId: runs.userId })
    .from(runs)
    .innerJoin(users, eq(users.id, runs.userId))
    .where(and(isNull(runs.endedAt), isNull(runs.stopRequestedAt), isNotNull(users.closedAt)))
    .limit(MOST_AT_ONCE)
  await fourAtOnce(left, async (run) => {
    const channel = ctx.channel(run.userId)
    await channel.arm(run.userId)
    await requestStop(ctx, run, ctx.now())
    await channel.wake(run.userId)
  })
}

/**
 * 30 days after an account is closed, deletes its name, address, and password, the emails and sales messages of that
 * address, its sign-ins, and its API tokens. Keeps its billing records and that its mailbox had a trial; while a bill
 * is unpaid, also which mailbox owes it. Run by cron, after `recordMailboxes`.
 */
export async function freeClosedAddresses(ctx: Pick<Context, 'db' | 'now'>): Promise<void> {
  const due = sql`closed_at < ${ctx.now() - CLOSED_DAYS * DAY_MS} AND email NOT LIKE 'closed:%'
    AND (mailbox IS NOT NULL OR confirmed_at IS NULL)`
  const owes = sql`EXISTS (SELECT 1 FROM invoices WHERE user_id = users.id AND ${IS_UNPAID})`
  await writeBatch(ctx.db, [
    ctx.db.run(sql`DELETE FROM outbox WHERE recipient IN (SELECT email FROM users WHERE ${due})`),
    ctx.db.run(sql`DELETE FROM contact_messages WHERE email IN (SELECT email FROM users WHERE ${due})`),
    ctx.db.run(sql`DELETE FROM sign_ins WHERE user_id IN (SELECT id FROM users WHERE ${due})`),
    ctx.db.run(sql`DELETE FROM api_tokens WHERE user_id IN (SELECT id FROM users WHERE ${due})`),
    ctx.db.run(
      sql`UPDATE users SET email = 'closed:' || id, name = '', password_hash = '',
      mailbox = CASE WHEN ${owes} THEN mailbox END WHERE ${due}`,
    ),
  ])
}

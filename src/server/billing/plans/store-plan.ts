import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '../../../../db/client.ts'
import { type PlanRow, plans } from '../../../../db/schema/billing.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/instant.ts'
import { type PlanType, planName, upgradeWaits } from '../../../domain/money/plan.ts'
import { newId } from '../../crypto/id.ts'
import { noticeQuery } from '../../mail/notices.ts'
import { planNotice } from '../../mail/plan-letters.ts'
import type { Context } from '../../runtime/context.ts'
import { dueQuery } from '../bills/close-cycles.ts'
import { endGrantedQuery, liftPlanEndQuery, liftTrialEndQueries, voidGrantsQuery } from './grants.ts'
import { type Heard, isUnbilledUnpaid, paidUntilQuery } from './paid-until.ts'

/** When we asked for the plan, and for its payments if we did. */
export type Asked = { askedAt: number; checkedAt: number | null }

/** Stores what Stripe says about a plan, unless we know something newer. */
export function storePlanQueries(
  ctx: Context,
  found: Heard,
  plan: { type: PlanType; hours: number; before: Partial<PlanRow> },
  { askedAt, checkedAt }: Asked,
): Query[] {
  const now = ctx.now()
  const { userId, cancelAt } = found
  // It was never paid, so it never was a plan.
  const endedAt = found.status === 'incomplete_expired' ? found.anchor : found.endedAt
  const paidUntil = found.unpaid ? found.periodStart : null
  const lapsesAt = upgradeWaits(found, now) ? found.upgradeUntil : null
  const soon = Math.max(now, Math.min(cancelAt ?? Infinity, lapsesAt ?? Infinity)) + MINUTE_MS
  // Once more after its end: we may have missed its last payments.
  const checkAt = endedAt === null ? Math.min(now + DAY_MS, soon) : now
  const isOver = endedAt !== null && checkedAt !== null && endedAt <= checkedAt
  const isNow = endedAt === null ? 1 : 0
  const newer = sql`EXISTS (SELECT 1 FROM subscriptions WHERE stripe_subscription_id = ${found.id} AND synced_at > ${askedAt})`
  const known = sql`EXISTS (SELECT 1 FROM subscriptions WHERE stripe_subscription_id = ${found.id})`
  const row = {
    planType: plan.type,
    status: found.status,
    anchor: found.anchor,
    hours: plan.hours,
    cancelAtPeriodEnd: found.cancelAtPeriodEnd,
    cancelAt,
    paidUntil,
    upgradedAt: found.upgradedAt,
    upgradedFrom: found.upgradedFrom,
    upgradeUntil: found.upgradeUntil,
    // Its schedule stays attached for a while after the change.
    nextPlanType: found.nextPlanType === plan.type ? null : found.nextPlanType,
    nextPlanAt: found.nextPlanType === null || found.nextPlanType === plan.type ? null : found.periodEnd,
    ...plan.before,
    syncedAt: askedAt,
    checkAt,
    endedAt,
  }
  return [
    ...noticeQueries(ctx, found, row, newer),
    dueQuery(ctx.db, userId, now, sql`NOT ${isKnown(found, row)}`),
    // A trial or granted plan ends where the paid one begins, unless it ended earlier. If it was granted
    // after the paid one began, it never counted. A plan that is over at Stripe ends nothing that began
    // later, and an outdated answer ends nothing at all.
    endGrantedQuery(ctx.db, userId, found.anchor, sql`(anchor <= ${found.anchor} OR ${isNow}) AND NOT ${newer}`),
    voidGrantsQuery(ctx.db, userId, found.anchor, sql`${isNow} AND NOT ${known}`),
    ctx.db
      .insert(plans)
      .values({
        id: newId('sub'),
        userId,
        subType: 'paid',
        stripeSubscriptionId: found.id,
        createdAt: now,
        ...row,
      })
      .onConflictDoUpdate({
        target: plans.stripeSubscriptionId,
        set: {
          ...row,
          paidUntil: paidUntilQuery(found),
          // Soon: the paid period still lacks its hours.
          checkAt: sql`CASE WHEN ${isUnbilledUnpaid(found)} THEN ${Math.min(now + HOUR_MS, checkAt)}
            WHEN ${isOver ? 1 : 0} THEN NULL
            WHEN ${plans.endedAt} IS NOT NULL THEN ${plans.checkAt}
            WHEN ${checkedAt === null ? 0 : 1} THEN ${checkAt}
            ELSE min(coalesce(${plans.checkAt}, ${checkAt}), ${checkAt}) END`,
        },
        setWhere: sql`${plans.syncedAt} <= ${askedAt}`,
      }),
    ctx.db.run(
      sql`UPDATE users SET stripe_customer_id = coalesce(stripe_customer_id, ${found.customerId}) WHERE id = ${userId}`,
    ),
    ...liftTrialEndQueries(ctx, userId, sql`${isNow} AND NOT ${newer}`),
    ...(isNow && cancelAt === null && row.nextPlanType === null
      ? [liftPlanEndQuery(ctx.db, userId, plan.type, now, newer)]
      : []),
    // If the account was closed in the meantime, the next trigger ends the plan.
    ctx.db.run(sql`UPDATE subscriptions SET check_at = ${now} WHERE stripe_subscription_id = ${found.id} AND ended_at IS NULL
      AND EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND closed_at IS NOT NULL)`),
  ]
}

/** What happened to it, once for each change. A plan whose first payment never came never was one. */
function noticeQueries(
  ctx: Context,
  { id, userId, unpaid }: Heard,
  row: Pick<PlanRow, (typeof TOLD)[number]>,
  newer: SQL,
): Query[] {
  if (row.status.startsWith('incomplete')) return []
  const same = TOLD.map((field) => sql`${plans[field]} IS ${row[field]}`)
  const isTold = sql`EXISTS (SELECT 1 FROM ${plans} WHERE ${plans.stripeSubscriptionId} = ${id} AND ${sql.join(same, sql` AND `)})`
  const state = { unpaid, cancelAt: row.cancelAt, ended: row.endedAt !== null }
  const cause = `plan:${id}:${row.planType}:${row.status}:${row.cancelAt}:${row.endedAt}`
  return [
    noticeQuery(ctx, userId, planNotice(planName(row.planType), state), {
      when: sql`NOT ${isTold} AND NOT ${newer}`,
      cause,
    }),
  ]
}

const TOLD = ['planType', 'status', 'cancelAt', 'endedAt'] as const

/** True if nothing changed that decides where its cycles end and what they include. */
function isKnown(found: Heard, row: Pick<PlanRow, (typeof DECISIVE)[number]>) {
  const same = DECISIVE.map((field) => sql`${plans[field]} IS ${row[field]}`)
  return sql`EXISTS (SELECT 1 FROM ${plans} WHERE ${plans.stripeSubscriptionId} = ${found.id}
    AND ${sql.join(same, sql` AND `)} AND ${plans.paidUntil} IS ${paidUntilQuery(found)})`
}

const DECISIVE = ['planType', 'hours', 'anchor', 'cancelAt', 'endedAt', 'upgradedAt'] as const

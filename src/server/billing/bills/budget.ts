import { eq, type SQL, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { type Query, writeBatch } from '../../../../db/client.ts'
import { users } from '../../../../db/schema/accounts.ts'
import type { RunRow } from '../../../../db/schema/fleet.ts'
import { toIso } from '../../../domain/instant.ts'
import { recordCents } from '../../../domain/money/billing.ts'
import { type Budget, isBudgetReached } from '../../../domain/money/budget.ts'
import { budgetForm } from '../../../domain/money/budget-form.ts'
import { eventQuery } from '../../events/outbox.ts'
import { limitPerson } from '../../limits/limits.ts'
import { budgetReachedMail } from '../../mail/money-letters.ts'
import { tellQueries } from '../../mail/notices.ts'
import { type Context, siteOrigin } from '../../runtime/context.ts'
import { requireValid } from '../../runtime/form-rules.ts'
import { endChange, runEventQuery } from '../../runtime/run-events.ts'
import type { Usage } from './usage.ts'

/** Sets or removes the budget, and looks at a running server at once. @throws invalid */
export async function setBudget(ctx: Context, userId: string, input: InferInput<typeof budgetForm>) {
  const budget = requireValid(budgetForm, input)
  await limitPerson(ctx, 'set_budget', userId)
  const mine = ctx.db.update(users).set({ budgetCents: budget?.cents ?? null, budgetStops: budget?.stops ?? false })
  await writeBatch(ctx.db, [
    mine.where(eq(users.id, userId)),
    ctx.db.run(sql`UPDATE server_sessions SET hours_look_at = ${ctx.now()}
      WHERE user_id = ${userId} AND ended_at IS NULL AND stop_requested_at IS NULL`),
  ])
  return {
    message: budget ? 'Budget saved.' : 'Budget removed.',
    budget: budget && { dollars: budget.cents / 100, stops: budget.stops },
  }
}

/**
 * What a look at a run writes if the month's charges have reached the budget: an email and an event, once for each
 * month and budget, and if its owner wants it, the run's end. @param email null for a closed account
 */
export function budgetQueries(
  ctx: Context,
  run: Pick<RunRow, 'id' | 'userId'>,
  email: string | null,
  usage: Usage,
): Query[] {
  const { budget, cycle, seconds } = usage
  if (!budget || !isBudgetReached(budget, usage)) return []
  const { cents, stops } = budget
  const { userId } = run
  const now = ctx.now()
  const isOpen = sql`stop_requested_at IS NULL AND ended_at IS NULL AND coalesce(ends_at, ${now} + 1) > ${now}`
  const stands = isStill(userId, budget)
  const reached = { cents, stops, chargedCents: recordCents(seconds, cycle), from: cycle.start, until: cycle.end }
  const cause = `budget:${userId}:${cycle.start}:${cents}`
  const data = {
    budget: {
      dollars: cents / 100,
      charged_dollars: reached.chargedCents / 100,
      stops,
      period_start: toIso(cycle.start),
      period_end: toIso(cycle.end),
    },
  }
  const event = { type: 'budget.reached', about: `${userId}_${cycle.start}_${cents}`, data } as const
  return [
    eventQuery(ctx, userId, event, stands),
    ...(email
      ? tellQueries(ctx, { id: userId, email }, budgetReachedMail(siteOrigin(ctx), reached), stands, cause)
      : []),
    ...(stops
      ? [
          runEventQuery(
            ctx,
            run.id,
            { what: endChange(now), detail: toIso(now), by: 'budget' },
            sql`${isOpen} AND ${stands}`,
          ),
          // No longer the end of an idle server, which using it again would take back.
          ctx.db.run(sql`UPDATE server_sessions SET ends_at = ${now}, budget_cents = ${cents}, idle_ends = 0, own_ends_at = NULL
            WHERE id = ${run.id} AND ${isOpen} AND ${stands}`),
        ]
      : []),
  ]
}

/** They may change it at any moment. */
function isStill(userId: string, { cents, stops }: Budget): SQL {
  return sql`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND budget_cents = ${cents} AND budget_stops = ${stops ? 1 : 0})`
}

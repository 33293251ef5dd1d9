import { and, desc, eq, isNull, or, sql } from 'drizzle-orm'
import { factorRemovals, signIns, users } from '../../../db/schema/accounts.ts'
import { bills, invoices, plans } from '../../../db/schema/billing.ts'
import { runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { toIso } from '../../domain/instant.ts'
import { dollarsOf, meterEnd, runSeconds } from '../../domain/money/billing.ts'
import type { FoundPerson, PersonDetails } from '../../domain/person-details.ts'
import { hasFactor, isLive } from '../accounts/live-sign-ins.ts'
import { toServer } from '../fleet/wire.ts'
import { contains } from '../runtime/contains.ts'
import type { Context } from '../runtime/context.ts'
import { listAudit } from './audit-log.ts'

const MOST_FOUND = 50
const SHOWN = 20

/** By a part of the name or address, or by an id: the person's, a run's, an instance's, a bill's, or Stripe's. Newest first. */
export async function findPeople(
  ctx: Pick<Context, 'db'>,
  query: string,
): Promise<{ people: FoundPerson[]; more: boolean }> {
  const q = query.trim()
  const rows = await ctx.db
    .select()
    .from(users)
    .where(
      q
        ? or(
            eq(users.id, q),
            eq(users.stripeCustomerId, q),
            contains(sql`${users.email}`, q),
            contains(sql`${users.name}`, q),
            sql`${users.id} IN (SELECT user_id FROM server_sessions WHERE id = ${q} OR instance_id = ${q})`,
            sql`${users.id} IN (SELECT user_id FROM billing_records WHERE id = ${q})`,
          )
        : undefined,
    )
    .orderBy(desc(users.createdAt), desc(users.id))
    .limit(MOST_FOUND + 1)
  return { people: rows.slice(0, MOST_FOUND).map(toFound), more: rows.length > MOST_FOUND }
}

function toFound(row: typeof users.$inferSelect): FoundPerson {
  const { id, name, email, admin, createdAt } = row
  const isSuspended = row.heldAt !== null || row.suspendedAt !== null
  const state =
    row.closedAt !== null ? 'closed' : isSuspended ? 'suspended' : row.confirmedAt ? 'active' : 'unconfirmed'
  return { id, name, email, admin, created_at: toIso(createdAt), state }
}

/** One person with their latest runs, bills, and sign-ins, and what operators did. @throws not_found */
export async function getPerson(ctx: Pick<Context, 'db' | 'now'>, id: string): Promise<PersonDetails> {
  const now = ctx.now()
  const [[[user], [plan], runRows, billRows, devices, factors], audit] = await Promise.all([
    ctx.db.batch([
      ctx.db.select().from(users).where(eq(users.id, id)),
      ctx.db
        .select()
        .from(plans)
        .where(and(eq(plans.userId, id), isNull(plans.endedAt))),
      ctx.db.select().from(runs).where(eq(runs.userId, id)).orderBy(desc(runs.requestedAt)).limit(SHOWN),
      ctx.db
        .select({ bill: bills, status: invoices.status, step: invoices.step, heldAt: invoices.heldAt })
        .from(bills)
        .leftJoin(invoices, eq(invoices.billId, bills.id))
        .where(eq(bills.userId, id))
        .orderBy(desc(bills.periodStart), desc(bills.createdAt))
        .limit(SHOWN),
      ctx.db
        .select()
        .from(signIns)
        .where(and(eq(signIns.userId, id), isLive(now)))
        .orderBy(desc(signIns.lastSeenAt))
        .limit(SHOWN),
      ctx.db
        .select({ has: hasFactor(sql`${users.id}`), dueAt: factorRemovals.dueAt })
        .from(users)
        .leftJoin(factorRemovals, eq(factorRemovals.userId, users.id))
        .where(eq(users.id, id)),
    ]),
    listAudit(ctx, { act: '', of: id }),
  ])
  if (!user) throw new AppError('not_found', 'Account not found.')
  return {
    ...toFound(user),
    held_at: toIso(user.heldAt),
    suspended_at: toIso(user.suspendedAt),
    closed_at: toIso(user.closedAt),
    has_factor: Boolean(factors[0]?.has),
    factor_removal_at: toIso(factors[0]?.dueAt ?? null),
    stripe_customer_id: user.stripeCustomerId,
    plan: plan
      ? {
          type: plan.planType,
          status: plan.status,
          hours: plan.hours,
          paid_through_stripe: plan.stripeSubscriptionId !== null,
        }
      : null,
    runs: runRows.map((run) => ({
      ...toServer(run),
      instance_id: run.instanceId,
      cost_so_far: run.billedFrom === null ? 0 : dollarsOf(runSeconds(run.billedFrom, meterEnd(run, now))),
    })),
    bills: billRows.map(({ bill, status, step, heldAt }) => ({
      id: bill.id,
      start: toIso(bill.periodStart),
      end: toIso(bill.periodEnd),
      seconds: bill.seconds,
      dollars: bill.amountCents / 100,
      status: heldAt === null ? (status ?? step ?? 'nothing to pay') : 'held',
      corrects: bill.corrects,
      held: heldAt !== null,
      holdable: bill.amountCents > 0 && heldAt === null && step !== null && status !== 'paid' && status !== 'void',
    })),
    sign_ins: devices.map(({ id, userAgent, address, lastSeenAt }) => ({
      id,
      user_agent: userAgent,
      address,
      last_seen_at: toIso(lastSeenAt),
    })),
    acts: audit.lines,
  }
}

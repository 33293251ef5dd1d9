import { and, eq, exists, gt, inArray, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { BatchItem, BatchResponse } from 'drizzle-orm/batch'
import { apiTokens, signIns, users } from '../../../db/schema/accounts.ts'
import { plans } from '../../../db/schema/billing.ts'
import type { TokenScope } from '../../domain/api-token.ts'
import type { LiveEnd } from '../../domain/ending.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/instant.ts'
import { UNPAID_STATUSES } from '../../domain/money/plan.ts'
import { COOKIE_S } from '../../domain/retention.ts'
import { ACCOUNT_CLOSED, SESSION_ENDED, SESSION_IDLE, SESSION_REVOKED } from '../../domain/user.ts'
import type { User } from '../../domain/wire/accounts.ts'
import { isDebtOf } from '../billing/bills/debts.ts'
import { isOverdue } from '../billing/bills/suspension.ts'
import type { Context } from '../runtime/context.ts'

/** The sign-in that the request's cookie names, or its API token; and the user. */
export type CurrentSignIn = Holder & {
  id: string
  expiresAt: number
  /** What the API token may do; null for a browser's sign-in. */
  scope: TokenScope | null
  /** The API token's name; null for a browser's sign-in. */
  tokenName: string | null
  /** When they last typed their password in this browser; 0 for an API token. */
  passwordAt: number
  bell: Bell
}

/** What every page of theirs shows: how many notices are unread, and when their live server ends. */
export type Bell = { unread: number; ending: Ending | null }
type Ending = LiveEnd & { id: string }

type Holder = {
  user: User
  /** Whether changes to the account ask for a second factor as well. */
  hasFactor: boolean
  /** Whether one of them is a passkey. */
  hasPasskey: boolean
  suspended: boolean
  held: boolean
  planUnpaid: boolean
  overdue: Overdue | null
}

/** What a suspended person owes. A single invoice links to its own page. */
type Overdue = { dollars: number; payUrl: string | null }

/** A sign-in ends after this long without use. */
const IDLE_LIMIT_MS = DAY_MS
/** And in any case this long after it began. */
export const SIGN_IN_LIFETIME_MS = COOKIE_S.sign_in * 1000

/**
 * Finds a valid sign-in and its user, and runs the `along` reads in the same round trip. An invalid sign-in
 * returns null and none of those reads.
 */
export async function findSignIn<T extends Reads>(
  ctx: Pick<Context, 'db' | 'now'>,
  id: string,
  along: T,
): Promise<{ signIn: CurrentSignIn; lastSeenAt: number; along: BatchResponse<T> } | null> {
  const found = ctx.db
    .select({
      id: signIns.id,
      expiresAt: signIns.expiresAt,
      lastSeenAt: signIns.lastSeenAt,
      passwordAt: sql<number>`coalesce(${signIns.passwordAt}, ${signIns.createdAt})`,
      ...BELL,
      ...holderColumns(ctx),
    })
    .from(signIns)
    .innerJoin(users, eq(users.id, signIns.userId))
    .where(and(eq(signIns.id, id), stillCounts(ctx.now())))
  const [[row], ...rows] = await ctx.db.batch([found, ...along])
  if (!row) return null
  const { expiresAt, lastSeenAt, passwordAt } = row
  return {
    signIn: { id: row.id, expiresAt, scope: null, tokenName: null, passwordAt, bell: toBell(row), ...toHolder(row) },
    lastSeenAt,
    along: rows as unknown as BatchResponse<T>,
  }
}

const BELL = {
  unread: sql<number>`(SELECT count(*) FROM notices WHERE notices.user_id = ${users.id} AND read_at IS NULL)`,
  ending: sql<string | null>`(SELECT json_object('id', id, 'endsAt', ends_at, 'mustStopAt', must_stop_at,
    'setAt', coalesce(ends_set_at, requested_at), 'planEnds', plan_ends) FROM server_sessions
    WHERE server_sessions.user_id = ${users.id} AND ended_at IS NULL AND stop_requested_at IS NULL
    AND (ends_at IS NOT NULL OR must_stop_at IS NOT NULL))`,
}

function toBell({ unread, ending }: { unread: number; ending: string | null }): Bell {
  return { unread: Number(unread), ending: ending ? JSON.parse(ending) : null }
}

/** For API tokens, which see no page. */
export const NO_BELL: Bell = { unread: 0, ending: null }

/** What a request needs to know about its user. */
export function holderColumns(ctx: Pick<Context, 'db' | 'now'>) {
  return {
    user: { id: users.id, name: users.name, email: users.email, admin: users.admin },
    hasFactor: hasFactor(sql`${users.id}`),
    hasPasskey: hasPasskey(sql`${users.id}`),
    suspendedAt: users.suspendedAt,
    heldAt: users.heldAt,
    planUnpaid: exists(unpaidPlan(ctx)),
    // Only suspended people have any.
    overdueCents: overdue(ctx, sql`sum(coalesce(remaining_cents, 0))`),
    overdueUrl: overdue(
      ctx,
      sql`CASE count(*) WHEN 1 THEN max(CASE WHEN processing_at IS NULL THEN hosted_url END) END`,
    ),
  }
}

function overdue(ctx: Pick<Context, 'now'>, what: SQL) {
  return sql`CASE WHEN ${users.suspendedAt} IS NOT NULL THEN
    (SELECT ${what} FROM invoices WHERE (user_id = ${users.id} AND ${isOverdue(ctx.now())})
      OR (${isDebtOf(sql`${users.id}`)})) END`
}

type HolderRow = {
  user: User
  hasFactor: unknown
  hasPasskey: unknown
  suspendedAt: number | null
  heldAt: number | null
  planUnpaid: unknown
  overdueCents: unknown
  overdueUrl: unknown
}

export function toHolder({
  user,
  hasFactor,
  hasPasskey,
  suspendedAt,
  heldAt,
  planUnpaid,
  overdueCents,
  overdueUrl,
}: HolderRow): Holder {
  return {
    user,
    hasFactor: Boolean(hasFactor),
    hasPasskey: Boolean(hasPasskey),
    suspended: suspendedAt !== null,
    held: heldAt !== null,
    planUnpaid: Boolean(planUnpaid),
    overdue: overdueCents
      ? { dollars: Number(overdueCents) / 100, payUrl: overdueUrl ? String(overdueUrl) : null }
      : null,
  }
}

function unpaidPlan(ctx: Pick<Context, 'db' | 'now'>) {
  return ctx.db
    .select({ id: plans.id })
    .from(plans)
    .where(
      and(
        eq(plans.userId, users.id),
        isNull(plans.endedAt),
        inArray(plans.status, UNPAID_STATUSES),
        or(isNull(plans.cancelAt), gt(plans.cancelAt, ctx.now())),
      ),
    )
}

/** Reads that share one round trip to the database. */
export type Reads = readonly BatchItem<'sqlite'>[]

/** The user of a sign-in, for reads that run together with the search for it. */
export function userOfSignIn(id: string): SQL {
  return sql`(SELECT ${signIns.userId} FROM ${signIns} WHERE ${signIns.id} = ${id})`
}

/** Which of these sign-ins and API tokens are still valid. */
export function liveSignInsQuery(ctx: Pick<Context, 'db' | 'now'>, ids: string[]) {
  return ctx.db
    .select({ id: signIns.id, lastSeenAt: sql<number>`${signIns.lastSeenAt}` })
    .from(signIns)
    .innerJoin(users, eq(users.id, signIns.userId))
    .where(and(inArray(signIns.id, ids), stillCounts(ctx.now())))
    .unionAll(
      ctx.db
        .select({ id: apiTokens.id, lastSeenAt: sql<number>`0` })
        .from(apiTokens)
        .innerJoin(users, eq(users.id, apiTokens.userId))
        .where(and(inArray(apiTokens.id, ids), isLiveToken(ctx.now()), isUsableAccount())),
    )
}

function stillCounts(now: number) {
  return and(isLive(now), isUsableAccount())
}

/** An SQL condition: this user proves a second factor to sign in. */
export function hasFactor(userId: SQL): SQL {
  return sql`(EXISTS (SELECT 1 FROM totps WHERE user_id = ${userId} AND confirmed_at IS NOT NULL) OR ${hasPasskey(userId)})`
}

/** An SQL condition. */
export function hasPasskey(userId: SQL): SQL {
  return sql`EXISTS (SELECT 1 FROM passkeys WHERE user_id = ${userId})`
}

export function isUsableAccount() {
  return and(isNotNull(users.confirmedAt), isNull(users.closedAt))
}

/** Checks only the sign-in: its account may be closed or unconfirmed. */
export function isLive(now: number) {
  return and(isNull(signIns.revokedAt), gt(signIns.expiresAt, now), gt(signIns.lastSeenAt, now - IDLE_LIMIT_MS))
}

export function isLiveToken(now: number) {
  return and(isNull(apiTokens.revokedAt), gt(apiTokens.expiresAt, now))
}

/** Why a sign-in no longer counts, in words for its person, and who that is. */
export async function whyEnded(
  ctx: Pick<Context, 'db' | 'now'>,
  id: string | null,
): Promise<{ why: string; userId: string | null }> {
  const [row] = id
    ? await ctx.db
        .select({
          userId: users.id,
          revokedAt: signIns.revokedAt,
          lastSeenAt: signIns.lastSeenAt,
          closedAt: users.closedAt,
        })
        .from(signIns)
        .innerJoin(users, eq(users.id, signIns.userId))
        .where(eq(signIns.id, id))
    : []
  if (!row) return { why: SESSION_ENDED, userId: null }
  const { userId } = row
  if (row.closedAt !== null) return { why: ACCOUNT_CLOSED, userId }
  if (row.revokedAt !== null) return { why: SESSION_REVOKED, userId }
  return { why: row.lastSeenAt > ctx.now() - IDLE_LIMIT_MS ? SESSION_ENDED : SESSION_IDLE, userId }
}

/** Once in five minutes is enough. */
const SEEN_EVERY_MS = 5 * MINUTE_MS

/** Asked before `noteUse`: even a write that changes nothing waits for the database's one writer. */
export const isUseDue = (ctx: Pick<Context, 'now'>, lastSeenAt: number) => ctx.now() - lastSeenAt > SEEN_EVERY_MS

export async function noteUse(ctx: Pick<Context, 'db' | 'now'>, id: string): Promise<void> {
  const isDue = and(eq(signIns.id, id), lt(signIns.lastSeenAt, ctx.now() - SEEN_EVERY_MS))
  await ctx.db.update(signIns).set({ lastSeenAt: ctx.now() }).where(isDue)
}

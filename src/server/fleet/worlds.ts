import { and, desc, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { BatchResponse } from 'drizzle-orm/batch'
import { environments, runs } from '../../../db/schema/fleet.ts'
import { AppError } from '../../domain/error.ts'
import { type PlanType, UNPAID_STATUSES } from '../../domain/money/plan.ts'
import { obeyedParameter } from '../../domain/parameters.ts'
import type { RunWishes } from '../../domain/run-wishes.ts'
import type { Vehicle } from '../../domain/wire/fields.ts'
import type { Worlds } from '../../domain/wire/fleet.ts'
import { choose, whyNotChosen, worldsFor } from '../../domain/worlds.ts'
import type { Context } from '../runtime/context.ts'

/** As its index defines it. The catalog's environments have no owner. */
const OWNER = sql`(CASE WHEN user_id IS NULL THEN '' ELSE user_id END)`

/** A condition on rows of `server_sessions`: they failed before they answered. */
const IS_FAILED_START = sql`(billed_from IS NULL AND error_message IS NOT NULL)`

/** What a user can choose from, in order: the catalog, then their own. */
export function catalogQuery(ctx: Pick<Context, 'db'>, userId: string | SQL) {
  return ctx.db
    .select({
      id: environments.id,
      name: environments.name,
      description: environments.description,
      plans: environments.plans,
      isOwn: sql<0 | 1>`user_id IS NOT NULL`,
    })
    .from(environments)
    .where(and(isNull(environments.retiredAt), sql`${OWNER} IN ('', ${userId})`))
    .orderBy(OWNER, environments.position)
}

/** What a start needs to know: the catalog, and the last choice. */
export function worldQueries(ctx: Pick<Context, 'db'>, userId: string | SQL) {
  return [
    catalogQuery(ctx, userId),
    ctx.db
      .select({ environment: runs.environment, vehicle: runs.vehicle })
      .from(runs)
      .where(and(eq(runs.userId, userId), isNotNull(runs.environment), sql`NOT ${IS_FAILED_START}`))
      .orderBy(desc(runs.requestedAt))
      .limit(1),
  ] as const
}

type Catalog = BatchResponse<ReturnType<typeof worldQueries>>

/** As clients know it: without our IDs. */
export function toWorlds(rows: Catalog[0], plan: PlanType): Worlds {
  return worldsFor(
    plan,
    rows.map(({ name, description, plans }) => ({ name, description, plans })),
  )
}

/** What a start simulates. */
export type World = { environmentId: string; vehicle: Vehicle; isOwn: boolean }

/**
 * What they wish for; for what they don't name, their last choice, or else the first that their plan includes.
 * @throws not_offered if it doesn't exist or their plan doesn't include it, invalid if a catalog's was to end with its
 * program, unavailable
 */
export function requireWorld(
  catalog: Catalog,
  plan: PlanType,
  wished: Pick<RunWishes, 'environment' | 'vehicle' | 'untilExit' | 'parameters'>,
): World {
  const [rows, [last]] = catalog
  const { environments: all, vehicles } = worldsFor(plan, rows)
  const vehicle = choose(vehicles, wished.vehicle, last?.vehicle ?? null)
  if (!vehicle) throw refusal('vehicle', vehicles, wished.vehicle, plan)
  const environment = choose(all, wished.environment, last?.environment ?? null)
  if (!environment) throw refusal('environment', all, wished.environment, plan)
  const { id, isOwn } = rows[all.indexOf(environment)] as (typeof rows)[number]
  if (wished.untilExit && !isOwn)
    throw new AppError(
      'invalid',
      `${environment.name} runs until you stop it. Only your own images can run until they exit.`,
      {
        field: 'until',
      },
    )
  const obeyed = isOwn ? undefined : obeyedParameter(wished.parameters)
  if (obeyed)
    throw new AppError('invalid', `Only your own images take ${obeyed}: programs take code from it.`, {
      field: 'parameters',
    })
  return { environmentId: id, vehicle: vehicle.name, isOwn: isOwn === 1 }
}

function refusal(
  what: 'environment' | 'vehicle',
  choices: Worlds['environments'] | Worlds['vehicles'],
  name: string | null,
  plan: PlanType,
): AppError {
  if (name !== null) return new AppError('not_offered', whyNotChosen(what, choices, name, plan), { field: what })
  return new AppError('unavailable', 'No environment is available right now. Please try again later.')
}

/**
 * An SQL condition: the plan is still the one that we read, and the catalog still offers the environment to it. Part of
 * the statement that reserves, so that no start slips past a downgrade or a retirement.
 */
export function isIncluded(userId: string, plan: PlanType, { environmentId }: World, now: number): SQL {
  const unpaid = sql.join(
    UNPAID_STATUSES.map((status) => sql`${status}`),
    sql`, `,
  )
  return sql`(coalesce((SELECT plan_type FROM subscriptions WHERE user_id = ${userId} AND ended_at IS NULL
      AND (cancel_at IS NULL OR cancel_at > ${now}) AND status NOT IN (${unpaid})), 'basic') = ${plan}
    AND EXISTS (SELECT 1 FROM environments WHERE id = ${environmentId} AND retired_at IS NULL
      AND EXISTS (SELECT 1 FROM json_each(plans) WHERE value = ${plan})))`
}

import { and, asc, eq, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { environments } from '../../../db/schema.ts'
import { AppError } from '../../domain/error.ts'
import { parseImage } from '../../domain/image-reference.ts'
import { toIso } from '../../domain/instant.ts'
import {
  MAX_OWN_ENVIRONMENTS,
  NAME_TAKEN,
  OWN_DESCRIPTION,
  OWN_NEEDS_PLAN,
  ownEnvironmentForm,
  TOO_MANY_ENVIRONMENTS,
} from '../../domain/own-environment.ts'
import type { OwnEnvironment } from '../../domain/wire.ts'
import { OWN_PLANS } from '../../domain/worlds.ts'
import { getAllowance } from '../billing/allowance.ts'
import { newId } from '../crypto/id.ts'
import type { Context } from '../runtime/context.ts'
import { requireValid } from '../runtime/form-rules.ts'

/** Oldest first. */
export function ownEnvironmentsQuery(ctx: Pick<Context, 'db'>, userId: string) {
  return ctx.db
    .select({ name: environments.name, image: environments.image, createdAt: environments.createdAt })
    .from(environments)
    .where(eq(environments.userId, userId))
    .orderBy(asc(environments.position))
}

type Row = Awaited<ReturnType<typeof ownEnvironmentsQuery>>[number]

export function toOwnEnvironment({ name, image, createdAt }: Row): OwnEnvironment {
  return { name, image: image ?? '', digest: parseImage(image ?? '')?.digest ?? null, created_at: toIso(createdAt) }
}

/** Whether their plan includes Build Your Own. What they have stays listed without it, and doesn't start. */
export async function mayBuildOwn(ctx: Context, userId: string): Promise<boolean> {
  return OWN_PLANS.includes((await getAllowance(ctx, userId)).plan)
}

/**
 * Adds an image as an environment. Each start asks again whether the plan includes it.
 * @throws invalid, forbidden (the plan doesn't include it), conflict (the name is taken, or there are too many)
 */
export async function addOwnEnvironment(
  ctx: Context,
  userId: string,
  input: InferInput<typeof ownEnvironmentForm>,
): Promise<OwnEnvironment> {
  const { name, image } = requireValid(ownEnvironmentForm, input)
  if (!(await mayBuildOwn(ctx, userId))) throw new AppError('forbidden', OWN_NEEDS_PLAN, { page: '/subscriptions' })
  const now = ctx.now()
  const { rowsAffected } = await ctx.db.run(sql`
    INSERT INTO environments (id, name, description, image, plans, user_id, position, created_at)
    SELECT ${newId('env')}, ${name}, ${OWN_DESCRIPTION}, ${image}, ${JSON.stringify(OWN_PLANS)}, id, ${now}, ${now}
    FROM users WHERE id = ${userId} AND closed_at IS NULL
    AND (SELECT count(*) FROM environments WHERE user_id = ${userId}) < ${MAX_OWN_ENVIRONMENTS}
    AND NOT EXISTS (SELECT 1 FROM environments WHERE lower(name) = lower(${name}) AND retired_at IS NULL
      AND (user_id IS NULL OR user_id = ${userId}))`)
  if (rowsAffected) return toOwnEnvironment({ name, image, createdAt: now })
  const own = await ctx.db.$count(environments, eq(environments.userId, userId))
  if (own >= MAX_OWN_ENVIRONMENTS) throw new AppError('conflict', TOO_MANY_ENVIRONMENTS)
  throw new AppError('conflict', NAME_TAKEN, { field: 'name' })
}

/**
 * What runs keeps running.
 * @throws not_found, also for someone else's or the catalog's
 */
export async function removeOwnEnvironment(ctx: Context, userId: string, name: string): Promise<void> {
  const { rowsAffected } = await ctx.db
    .delete(environments)
    .where(and(eq(environments.userId, userId), sql`lower(name) = lower(${name})`))
  if (!rowsAffected) throw new AppError('not_found', 'Environment not found.')
}

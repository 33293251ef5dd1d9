import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { InferInput } from 'valibot'
import { type Query, writeBatch } from '../../../db/client.ts'
import { environments } from '../../../db/schema/fleet.ts'
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
import type { User } from '../../domain/wire/accounts.ts'
import type { OwnEnvironment } from '../../domain/wire/fleet.ts'
import { OWN_PLANS } from '../../domain/worlds.ts'
import { getAllowance } from '../billing/allowance.ts'
import { newId } from '../crypto/id.ts'
import { limitPerson } from '../limits/limits.ts'
import { deliverMail, fewToday, mailQuery } from '../mail/outbox.ts'
import { ENVIRONMENT_MAILS, environmentMail } from '../mail/secret-letters.ts'
import { type Context, siteOrigin } from '../runtime/context.ts'
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

/** Whether their plan includes Build Your Own. Without it, their environments stay listed but don't start. */
export async function mayBuildOwn(ctx: Context, userId: string): Promise<boolean> {
  return OWN_PLANS.includes((await getAllowance(ctx, userId)).plan)
}

/** Whose it is, and the API token they use. */
type Owner = { user: Pick<User, 'id' | 'email'>; tokenName?: string | null }

/**
 * Adds an image as an environment, and emails its owner, because it needs no password and outlives a token that adds
 * it. Each start checks again whether the plan includes it.
 * @throws invalid, forbidden (the plan doesn't include it), conflict (the name is taken, or there are too many),
 * too_many
 */
export async function addOwnEnvironment(
  ctx: Context,
  owner: Owner,
  input: InferInput<typeof ownEnvironmentForm>,
): Promise<OwnEnvironment> {
  const userId = owner.user.id
  const { name, image } = requireValid(ownEnvironmentForm, input)
  await limitPerson(ctx, 'change_environment', userId)
  if (!(await mayBuildOwn(ctx, userId))) throw new AppError('forbidden', OWN_NEEDS_PLAN, { page: '/subscriptions' })
  const now = ctx.now()
  const id = newId('env')
  const [added] = await writeBatch(ctx.db, [
    ctx.db.run(sql`
    INSERT INTO environments (id, name, description, image, plans, user_id, position, created_at)
    SELECT ${id}, ${name}, ${OWN_DESCRIPTION}, ${image}, ${JSON.stringify(OWN_PLANS)}, id, ${now}, ${now}
    FROM users WHERE id = ${userId} AND closed_at IS NULL
    AND (SELECT count(*) FROM environments WHERE user_id = ${userId}) < ${MAX_OWN_ENVIRONMENTS}
    AND NOT EXISTS (SELECT 1 FROM environments WHERE lower(name) = lower(${name}) AND retired_at IS NULL
      AND (user_id IS NULL OR user_id = ${userId}))`),
    tellQuery(ctx, owner, name, 'added', sql`id = ${id}`),
  ])
  if (added?.rowsAffected) {
    ctx.background(deliverMail(ctx))
    return toOwnEnvironment({ name, image, createdAt: now })
  }
  const own = await ctx.db.$count(environments, eq(environments.userId, userId))
  if (own >= MAX_OWN_ENVIRONMENTS) throw new AppError('conflict', TOO_MANY_ENVIRONMENTS)
  throw new AppError('conflict', NAME_TAKEN, { field: 'name' })
}

/**
 * Running servers keep running. Emails its owner.
 * @throws not_found, also for someone else's or the catalog's; too_many
 */
export async function removeOwnEnvironment(ctx: Context, owner: Owner, name: string): Promise<void> {
  await limitPerson(ctx, 'change_environment', owner.user.id)
  const isIt = and(eq(environments.userId, owner.user.id), sql`lower(name) = lower(${name})`) as SQL
  const [, removed] = await writeBatch(ctx.db, [
    tellQuery(ctx, owner, name, 'removed', isIt),
    ctx.db.delete(environments).where(isIt),
  ])
  if (!removed?.rowsAffected) throw new AppError('not_found', 'Environment not found.')
  ctx.background(deliverMail(ctx))
}

function tellQuery(
  ctx: Context,
  { user, tokenName }: Owner,
  name: string,
  what: 'added' | 'removed',
  isIt: SQL,
): Query {
  const mail = environmentMail(siteOrigin(ctx), name, what, tokenName ?? null)
  const isFew = fewToday(ctx, sql`${user.email}`, `environment_${what}`, ENVIRONMENT_MAILS)
  return mailQuery(ctx, user.email, mail, sql`EXISTS (SELECT 1 FROM environments WHERE ${isIt})`, null, isFew)
}

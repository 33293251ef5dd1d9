import { sql } from 'drizzle-orm'
import { type RunRow, runs } from '../../../../db/schema.ts'
import type { Failure } from '../../../domain/run-end.ts'
import type { Context } from '../../context.ts'
import { alertOperator } from '../../mail/alerts.ts'

/** What the machine reads to know what to run: infra/image/simulator.sh. */
export function worldTags({ environment, vehicle, image }: RunRow): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ environment, vehicle, image }).filter(([, value]) => value !== null),
  ) as Record<string, string>
}

/** A condition on rows of `server_sessions`: their environment isn't the catalog's, so only its owner can repair its image. */
export const HAS_OWN_IMAGE = sql`(server_sessions.environment IS NOT NULL AND NOT EXISTS (SELECT 1 FROM environments
  WHERE user_id IS NULL AND environments.name = server_sessions.environment
  AND (retired_at IS NULL OR retired_at > server_sessions.requested_at)))`

export async function hasOwnImage(ctx: Context, run: Pick<RunRow, 'id'>): Promise<boolean> {
  return (await ctx.db.$count(runs, sql`${runs.id} = ${run.id} AND ${HAS_OWN_IMAGE}`)) > 0
}

/**
 * Why a run never starts whose machine shut itself down before it answered: that's what it does when it can't pull its
 * image. Alerts the operator, unless the image is its user's own.
 */
export async function imageFailure(ctx: Context, run: RunRow): Promise<Failure> {
  // Registries don't tell an image that isn't there from one that isn't public.
  const code = 'image_not_found'
  if (await hasOwnImage(ctx, run))
    return { code, message: `Your server couldn't pull ${run.image}. Check that this image exists and is public.` }
  const image = run.image ?? 'the default image'
  await alertOperator(ctx, {
    matter: `image_failed:${image}`,
    subject: `${run.environment ?? 'A server'} can't start: no ${image}`,
    sentences: [
      `A machine shut itself down before its simulator answered. It does that when it can't pull its image, here ${image} for the environment ${run.environment ?? '(none)'}. We ended the run and billed nothing.`,
      `The machine's reason is in EC2's system log for about an hour: aws ec2 get-console-output --latest --instance-id ${run.instanceId}`,
      'Check that the image exists and is public, or give the environment another one. Then start a server yourself.',
    ],
    fields: { instanceId: run.instanceId, image },
  })
  const what = run.environment === null ? 'Your server' : run.environment
  return {
    code,
    message: `${what} didn't start, because its image couldn't be loaded. We've been notified. Please try again later${run.environment === null ? '' : ', or choose another environment'}.`,
  }
}

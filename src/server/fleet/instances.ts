import { eq, sql } from 'drizzle-orm'
import { users } from '../../../db/schema/accounts.ts'
import { type RunRow, runs } from '../../../db/schema/fleet.ts'
import { toIso } from '../../domain/instant.ts'
import { dollarsOf, meterEnd, runSeconds } from '../../domain/money/billing.ts'
import type { Instance } from '../../domain/wire/fleet.ts'
import type { Context } from '../runtime/context.ts'

/**
 * All our cloud instances, newest first, with their owners, for the admin console.
 * @param withinMs how long to wait for the cloud
 * @throws unavailable, provider_failed
 */
export async function listInstances(ctx: Context, withinMs?: number): Promise<Instance[]> {
  const instances = await ctx.cloud.listInstances(withinMs)
  const runRows = await findRuns(ctx, [...new Set(instances.flatMap(({ tags }) => tags.session ?? []))])
  return instances
    .sort((a, b) => (b.launchTime ?? 0) - (a.launchTime ?? 0))
    .map((instance) => {
      const run = runRows.get(instance.tags.session ?? '')
      return {
        instance_id: instance.id,
        name: instance.name,
        instance_type: instance.type,
        state: instance.state,
        status_check: instance.statusCheck,
        private_ip: instance.privateIp,
        public_ip: instance.publicIp,
        launch_time: toIso(instance.launchTime),
        run_id: run?.run.id ?? null,
        owner_id: run?.run.userId ?? null,
        owner_email: run?.email ?? null,
        environment: run?.run.environment ?? null,
        vehicle: run?.run.vehicle ?? null,
        // A run's cost belongs to its final instance.
        cost_dollars: run && run.run.instanceId === instance.id ? costSoFar(run.run, ctx.now()) : null,
      }
    })
}

async function findRuns(ctx: Context, sessionIds: string[]) {
  const found = await ctx.db
    .select({ run: runs, email: users.email })
    .from(runs)
    .innerJoin(users, eq(users.id, runs.userId))
    // One parameter, however many IDs there are.
    .where(sql`${runs.id} IN (SELECT value FROM json_each(${JSON.stringify(sessionIds)}))`)
  return new Map(found.map((row) => [row.run.id, row]))
}

function costSoFar(run: RunRow, now: number): number {
  return run.billedFrom === null ? 0 : dollarsOf(runSeconds(run.billedFrom, meterEnd(run, now)))
}

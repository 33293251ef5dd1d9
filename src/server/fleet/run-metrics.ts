import { toIso } from '../../domain/instant.ts'
import { type MachineUse, type Metrics, type MetricsPart, TIERS, tierFor } from '../../domain/run-metrics.ts'
import { isLive } from '../../domain/server.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import type { Context } from '../runtime/context.ts'
import type { OwnRun } from './run-log.ts'

/** How busy a run's machine was since that moment. Kept as long as its log. */
export async function readMetrics(ctx: Context, { id, isGone, until }: OwnRun, since: number): Promise<MetricsPart> {
  return isGone ? { everySeconds: TIERS[0].everySeconds, samples: [] } : ctx.runLog(id).metrics(since, until)
}

export function toMetrics({ everySeconds, samples }: MetricsPart): Metrics {
  const shown = samples.map(({ disk_total_bytes, at, ...figures }) => ({ at: toIso(at), ...figures }))
  return { every_seconds: everySeconds, samples: shown }
}

/**
 * The same for the run's page: the last hour while it runs, and all of it afterward.
 * @param last which tier to show instead
 * @returns null if it can't be read: the page does without it
 */
export async function findMachineUse(ctx: Context, server: Server, last?: string): Promise<MachineUse | null> {
  const live = isLive(server)
  const until = live ? ctx.now() : Date.parse(server.end_time ?? server.requested_at)
  const requested = Date.parse(server.requested_at)
  const longest = tierFor(until - requested)
  const tiers = TIERS.slice(0, TIERS.indexOf(longest) + 1)
  const tier = tiers.find((one) => one.last === last) ?? (live ? TIERS[0] : longest)
  const since = Math.max(until - tier.reachMs, requested)
  const part = await ctx
    .runLog(server.id)
    .metrics(since, until)
    .catch((error) => {
      ctx.log('metrics_not_read', { runId: server.id }, error)
      return null
    })
  return part && { tier, tiers, since, until, samples: part.samples }
}

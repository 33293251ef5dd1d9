import type { Estimate } from './estimate.ts'
import { formatUptime } from './server.ts'
import type { Machine } from './wire/fleet.ts'

/** How long starts take, by environment and instance type, with and without a warm machine. Missing ones are unknown. */
export type StartTimes = Record<string, Record<string, Partial<Record<'warm' | 'cold', Estimate>>>>

/** @param machine the one that would start, or a run's */
export function startTimeOf(
  times: StartTimes,
  environment: string | null | undefined,
  { instance_type, warm }: Pick<Machine, 'instance_type' | 'warm'>,
): Estimate | undefined {
  return times[environment ?? '']?.[instance_type]?.[warm ? 'warm' : 'cold']
}

/** For someone about to start a server. */
export function readyText(estimate: Estimate | null | undefined): string {
  if (!estimate) return "We don't know yet how long it takes to start."
  const { p50, p90 } = estimate
  return `Usually ready in ${formatUptime(p50)}${p90 > p50 ? `, 9 in 10 times within ${formatUptime(p90)}` : ''}.`
}

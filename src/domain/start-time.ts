import type { Estimate } from './estimate.ts'
import { formatUptime } from './server.ts'

/** How long starts take, by environment and instance type. What isn't there, we don't know yet. */
export type StartTimes = Record<string, Record<string, Estimate>>

/** For someone about to start a server. */
export function readyText(estimate: Estimate | null | undefined): string {
  if (!estimate) return "We don't know yet how long it takes to start."
  const { p50, p90 } = estimate
  return `Usually ready in ${formatUptime(p50)}${p90 > p50 ? `, 9 in 10 times within ${formatUptime(p90)}` : ''}.`
}

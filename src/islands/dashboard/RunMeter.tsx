import { runCost } from '../../domain/live-usage.ts'
import type { Server, Summary } from '../../domain/wire.ts'

const BECAUSE = { trial: 'free trial', plan: 'in your plan' }

/** The meter of a running server: billed seconds, and the dollars that they add to the bill. */
export function RunMeter({ server, summary, now }: { server: Server; summary: Summary; now: number }) {
  if (!server.active || server.stopping || !server.startedAt) return null
  const { seconds, units, free } = runCost(server, summary, now)
  return (
    <span className="run-meter" title="Billed seconds so far, and what they add to your bill">
      {seconds.toLocaleString('en-US')} s <span aria-hidden="true">·</span>{' '}
      {free ? `$0.00 ${BECAUSE[free]}` : `$${(units / 1e7).toFixed(4)}`}
    </span>
  )
}

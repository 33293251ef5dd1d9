import { runCost } from '../../domain/live-usage.ts'
import type { Server, Summary } from '../../domain/wire.ts'

/** The meter of a running server: billed seconds, and the dollars that they add to the bill. */
export function RunMeter({ server, summary, now }: { server: Server; summary: Summary; now: number }) {
  if (!server.active || server.stopping || !server.startedAt) return null
  const { seconds, units, free } = runCost(server, summary, now)
  return (
    <span className="run-meter" title="Billed so far">
      {seconds.toLocaleString('en-US')} s · {free ? `$0.00 ${free}` : `$${(units / 1e7).toFixed(4)}`}
    </span>
  )
}

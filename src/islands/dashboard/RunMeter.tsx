import { runCost } from '../../domain/start-cost.ts'
import type { Server, Summary } from '../../domain/wire.ts'

/** The meter of a running server: billed seconds, and what they have cost so far. */
export function RunMeter({ server, summary, now }: { server: Server; summary: Summary; now: number }) {
  if (!server.active || server.stopping || !server.startedAt) return null
  const { seconds, cost } = runCost(Date.parse(server.startedAt), now, summary)
  return (
    <span className="hint" title="Billed seconds so far, and what they cost">
      {' '}
      {seconds.toLocaleString('en-US')} s · {cost}
    </span>
  )
}

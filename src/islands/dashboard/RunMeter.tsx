import { runCost } from '../../domain/money/live-usage.ts'
import { dollars, fineDollars, seconds, UNITS_PER_DOLLAR } from '../../domain/money/money.ts'
import type { Server, Summary } from '../../domain/wire.ts'

/** The meter of a running server: billed seconds, and the dollars that they add to the bill. It stands still until the server answers. */
export function RunMeter({ server, summary, now }: { server: Server; summary: Summary; now: number }) {
  if (!server.active || server.stopping) return null
  if (!server.billed_from) return <span className="run-meter">startup is free</span>
  const { seconds: billed, units, free } = runCost(server, summary, now)
  return (
    <span className="run-meter" title="Billed so far">
      {seconds(billed)} · {free ? `${dollars(0)} ${free}` : fineDollars(units / UNITS_PER_DOLLAR)}
    </span>
  )
}

import { runCost } from '../../domain/money/live-usage.ts'
import { costText, FREE_WORDS, UNITS_PER_DOLLAR } from '../../domain/money/money.ts'
import type { Summary } from '../../domain/wire/billing.ts'
import type { Server } from '../../domain/wire/fleet.ts'

/** A running server's meter: what it adds to the bill. It starts when the server answers. */
export function RunMeter({ server, summary, now }: { server: Server; summary: Summary; now: number }) {
  if (!server.active || server.stopping) return null
  if (!server.billed_from) return <span className="run-meter">startup is free</span>
  const { units, free, since } = runCost(server, summary, now)
  return (
    <span className="run-meter" title={`Billed ${since}`}>
      {free ? FREE_WORDS[free] : costText(units / UNITS_PER_DOLLAR) + (since === 'so far' ? '' : ` ${since}`)}
    </span>
  )
}

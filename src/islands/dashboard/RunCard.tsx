import type { ReactNode } from 'react'
import { machineText } from '../../domain/machine.ts'
import { runSeconds } from '../../domain/money/billing.ts'
import { type RunCost, runCost } from '../../domain/money/live-usage.ts'
import { costText, FREE_WORDS, UNITS_PER_DOLLAR } from '../../domain/money/money.ts'
import { PER_HOUR } from '../../domain/money/start-cost.ts'
import { type BadgeColor, canStop, formatUptime, webAddress } from '../../domain/server.ts'
import type { Summary } from '../../domain/wire/billing.ts'
import type { GuestEnd } from '../../domain/wire/door.ts'
import type { Server } from '../../domain/wire/fleet.ts'
import { worldText } from '../../domain/worlds.ts'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { DefinitionStats } from '../../ui/DefinitionStats.tsx'
import { usePart } from '../usePart.ts'
import { ASK_TO_STOP, instead, STOP } from './ByForm.tsx'
import { DoorRow } from './DoorRow.tsx'
import { EndForm, type MoveEnd } from './EndForm.tsx'
import { SteadyButton } from './SteadyButton.tsx'

const lastLine = () => import('../log/LastLine.tsx').then((file) => file.LastLine)

type Props = {
  server: Server
  /** As of `now`: see `usageAt`. */
  summary: Summary
  now: number
  /** Whether the server's page answers. */
  reachable: boolean
  /** Cancels a start at once; asks before it stops a server. */
  onStop: () => void
  csrfToken: string
  /** Moves its end. */
  onMove: MoveEnd
  /** When its trial ends at the latest; null outside one. */
  latest: number | null
  /** Who may enter besides the user, as of the page's load. */
  guests: GuestEnd[]
  /** How much of their trial is left. */
  trial?: ReactNode
  /** Another hint about it. */
  children?: ReactNode
}

/** The live server, first on the dashboard: its state, machine, time, and cost, and what to do with it. */
export function RunCard(props: Props) {
  const { server, summary, now, csrfToken, reachable, onStop, onMove, latest, trial, children } = props
  const { title, color } = stateOf(server)
  const cost = runCost(server, summary, now)
  const LastLine = usePart(lastLine, !server.billed_from && !server.stopping)
  return (
    <section className="card run" aria-labelledby="run-title">
      <div>
        <h2 id="run-title" className={`badge badge-${color}`}>
          {title}
        </h2>
        {server.name ? (
          <p>
            <bdi>{server.name}</bdi>
          </p>
        ) : null}
        {server.environment ? <p>{worldText(server)}</p> : null}
        <p className="hint">
          {machineText(server.instance_type, server.availability_zone)} · <a href={`/servers/${server.id}#log`}>Log</a>
        </p>
        {LastLine ? <LastLine runId={server.id} /> : null}
        {children ? <p className="hint">{children}</p> : null}
        {server.files_read_only ? (
          <p className="hint">
            {`${server.files_read_only === 'full' ? 'Your files were full' : 'You could add no files'} at the start, so this server can only read /data.`}{' '}
            <a href="/files">See your files</a>
          </p>
        ) : null}
        {server.disk_nearly_full ? (
          <p className="hint">
            Its disk is at least 90 % full. Programs that write to it fail once it is full.{' '}
            <a href={`/servers/${server.id}#resources`}>See its disk</a>
          </p>
        ) : null}
      </div>
      <DefinitionStats stats={[timeOf(server, cost, now), costOf(server, cost)]} />
      <div className="row">{buttonsOf(server, reachable, onStop)}</div>
      <div className="run-foot">
        {server.stopping ? null : (
          <EndForm server={server} now={now} csrfToken={csrfToken} onMove={onMove} latest={latest} />
        )}
        {server.door_url ? <DoorRow key={server.id} server={server} now={now} guests={props.guests} /> : null}
        {trial}
      </div>
    </section>
  )
}

/** The words of the badge in the table are the specification's; a search for those finds only them. */
function stateOf({ active, stopping }: Server): { title: string; color: BadgeColor } {
  if (stopping) return { title: 'Server stopping', color: 'yellow' }
  return active ? { title: 'Server running', color: 'green' } : { title: 'Server starting', color: 'yellow' }
}

/** The billed time, so that time and cost agree; before that, how long the start has taken. */
function timeOf({ billed_from, requested_at, end_time }: Server, cost: RunCost, now: number) {
  if (billed_from) return { label: end_time ? 'Ran for' : 'Running for', value: formatUptime(cost.seconds) }
  const until = end_time ? Date.parse(end_time) : now
  return { label: 'Starting for', value: formatUptime(runSeconds(Date.parse(requested_at) || until, until)) }
}

function costOf({ billed_from }: Server, { units, free, since }: RunCost) {
  const price = free ? FREE_WORDS[free] + (free === 'plan' ? `, then ${PER_HOUR}` : '') : PER_HOUR
  const hint = billed_from ? price : 'Startup is free.'
  return { label: `Cost ${since}`, value: costText(units / UNITS_PER_DOLLAR), hint }
}

function buttonsOf(server: Server, reachable: boolean, onStop: () => void): ReactNode {
  const open = canStop(server)
  if (open && !server.active)
    return (
      <SteadyButton {...STOP} key="cancel" onClick={instead(onStop)}>
        Cancel
      </SteadyButton>
    )
  return (
    <>
      {open ? <OpenSimulator address={reachable ? webAddress(server) : null} /> : null}
      <SteadyButton {...(open && ASK_TO_STOP)} key="stop" look="danger" disabled={!open} onClick={instead(onStop)}>
        Stop
      </SteadyButton>
    </>
  )
}

/** @param address null until it answers */
function OpenSimulator({ address }: { address: string | null }) {
  if (!address) return <Button disabled>Open simulator</Button>
  return (
    <ButtonLink look="primary" href={address} target="_blank" rel="noreferrer">
      Open simulator
    </ButtonLink>
  )
}

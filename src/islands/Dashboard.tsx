import { useReducer, useState } from 'react'
import { trialMinutesLeft } from '../domain/billing.ts'
import { isLive } from '../domain/server.ts'
import { emptyServerList, isFinished, reduceServerList } from '../domain/server-list.ts'
import { startCost } from '../domain/start-cost.ts'
import type { Job, Server, Summary } from '../domain/wire.ts'
import { SuspendedNotice } from '../pages/billing/SuspendedNotice.tsx'
import { Button, ButtonLink } from '../pages/parts/Button.tsx'
import { ActionsCard } from './dashboard/ActionsCard.tsx'
import { ConnectionLine } from './dashboard/ConnectionLine.tsx'
import { NoticeAlert } from './dashboard/NoticeAlert.tsx'
import { SessionsTable } from './dashboard/SessionsTable.tsx'
import { TrialBanner } from './dashboard/TrialBanner.tsx'
import { UsageCard } from './dashboard/UsageCard.tsx'
import { useServers } from './dashboard/useServers.ts'
import { useJobsChannel } from './useJobsChannel.ts'
import { usePoll } from './usePoll.ts'
import { useServerClock } from './useServerClock.ts'

export type DashboardProps = {
  userId: string
  now: number
  servers: Server[]
  jobs: Job[]
  summary: Summary
  suspended?: boolean
}

const USAGE_EVERY_MS = 30_000

export function Dashboard(props: DashboardProps) {
  const now = useServerClock(props.now)
  const [list, dispatch] = useReducer(reduceServerList, props, ({ servers, jobs }) => emptyServerList(servers, jobs))
  const [summary, setSummary] = useState(props.summary)
  const { start, stop, refresh, busy } = useServers(dispatch, setSummary)
  const connection = useJobsChannel(
    props.userId,
    (job) => {
      dispatch({ type: 'job_updated', job })
      if (isFinished(job)) void refresh()
    },
    () => void refresh(),
  )
  usePoll((signal) => refresh(signal), USAGE_EVERY_MS)

  const { subscription, monthlyUsage } = summary
  const isDemo = subscription?.sub_type === 'demo'
  const minutesLeft = trialMinutesLeft(monthlyUsage.hoursUsed)
  const job = list.lastJobId ? (list.jobs[list.lastJobId] ?? null) : null
  return (
    <div className="page dashboard">
      <header className="page-head">
        <div>
          <h1>Dashboard</h1>
          <ConnectionLine connection={connection} servers={list.servers} now={now} />
        </div>
        <div className="row">
          <ButtonLink href="/subscriptions">Subscriptions</ButtonLink>
          <Button onClick={() => void refresh()}>Refresh</Button>
        </div>
      </header>
      {props.suspended ? <SuspendedNotice /> : null}
      {isDemo ? <TrialBanner minutesLeft={minutesLeft} /> : null}
      <NoticeAlert notice={list.notice} job={job} now={now} onDismiss={() => dispatch({ type: 'notice_dismissed' })} />
      <div className="grid grid-2">
        <ActionsCard
          canStart={!busy && !list.servers.some(isLive) && !(isDemo && minutesLeft <= 0)}
          onStart={() => void start()}
          cost={startCost(summary)}
        />
        <UsageCard usage={monthlyUsage} subscription={subscription} />
      </div>
      <SessionsTable
        servers={list.servers}
        summary={summary}
        loading={list.loading}
        now={now}
        onStop={(server) => void stop(server)}
      />
    </div>
  )
}

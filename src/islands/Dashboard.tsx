import { useEffect, useReducer, useRef, useState } from 'react'
import type { Estimate } from '../domain/estimate.ts'
import { trialMinutesLeft } from '../domain/money/billing.ts'
import { BUDGET_PAGE } from '../domain/money/budget.ts'
import { trialEnd, usageAt } from '../domain/money/live-usage.ts'
import { startCost, startRefusal } from '../domain/money/start-cost.ts'
import { writeParameters } from '../domain/parameters.ts'
import { canStop, isEnding, isLive } from '../domain/server.ts'
import { emptyServerList, isFinished, reduceServerList } from '../domain/server-list.ts'
import { type StartTimes, startTimeOf } from '../domain/start-time.ts'
import type { DashboardView } from '../domain/views.ts'
import type { Summary } from '../domain/wire/billing.ts'
import type { Server } from '../domain/wire/fleet.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { ErrorState } from '../ui/States.tsx'
import { ActionsCard } from './dashboard/ActionsCard.tsx'
import { ByForm, instead } from './dashboard/ByForm.tsx'
import { ConnectionLine } from './dashboard/ConnectionLine.tsx'
import { chosenEnd, EndChoice } from './dashboard/EndChoice.tsx'
import { EndQuestion } from './dashboard/EndQuestion.tsx'
import { LineNote } from './dashboard/LineNote.tsx'
import { chosenMachine, MachineChoice } from './dashboard/MachineChoice.tsx'
import { NoticeAlert } from './dashboard/NoticeAlert.tsx'
import { chosenParameters, ParametersChoice } from './dashboard/ParametersChoice.tsx'
import { RunCard } from './dashboard/RunCard.tsx'
import { chosenSecrets, SecretsChoice } from './dashboard/SecretsChoice.tsx'
import { SessionsTable } from './dashboard/SessionsTable.tsx'
import type { StopDialog } from './dashboard/StopDialog.tsx'
import { TrialBanner } from './dashboard/TrialBanner.tsx'
import { UsageCard } from './dashboard/UsageCard.tsx'
import { useServers } from './dashboard/useServers.ts'
import { useStartTime } from './dashboard/useStartTime.ts'
import { chosenWorld, lastOf, WorldChoice } from './dashboard/WorldChoice.tsx'
import { useJobsChannel } from './useJobsChannel.ts'
import { usePart } from './usePart.ts'
import { usePoll } from './usePoll.ts'
import { useReachable } from './useReachable.ts'
import { useServerClock } from './useServerClock.ts'

export type DashboardProps = DashboardView & { userId: string; csrfToken: string; unpaidDollars: number }

const USAGE_EVERY_MS = 30_000
/** How often to poll without live updates. While a server starts or stops, news is due soon. */
const UNCONNECTED_EVERY_MS = 10_000
const UNDER_WAY_EVERY_MS = 3_000

/** What the page does about a refused start. */
const WAYS_OUT: Record<string, string> = {
  '/contact_sales': 'Contact us',
  '/billing_history': 'View and pay',
  '/subscriptions/pay': 'Pay the open invoice',
  '/subscriptions': 'See plans',
  [BUDGET_PAGE]: 'Change your budget',
}

/** Most visits end sooner. */
const endingAlert = () => import('./dashboard/EndingAlert.tsx').then((file) => file.EndingAlert)
/** Loads once there is a server to stop. */
const stopDialog = () => import('./dashboard/StopDialog.tsx')

/** Every refusal of the account has a notice, except a used-up budget. */
const noticeOf = ({ start_refusal }: Summary) => start_refusal?.page !== BUDGET_PAGE && start_refusal?.page

/** Runs that end with their program are ready sooner, so these times don't apply to them. */
function usualOf(times: StartTimes, live: Server | undefined): Estimate | undefined {
  return live && !live.until ? startTimeOf(times, live.environment, live) : undefined
}

export function Dashboard(props: DashboardProps) {
  const [list, dispatch] = useReducer(reduceServerList, props, ({ servers, jobs }) => emptyServerList(servers, jobs))
  const [Asking, setAsking] = useState<typeof StopDialog | null>(null)
  const asker = useRef<HTMLElement | null>(null)
  const [counted, setCounted] = useState(props.summary)
  const [line, setLine] = useState(props.line)
  const now = useServerClock(Date.parse(counted.as_of))
  const { start, stop, moveEnd, refresh, busy, readAt } = useServers(dispatch, setCounted)
  const { connection, heardAt } = useJobsChannel(props.userId, {
    onJob(job) {
      dispatch({ type: 'job_updated', job })
      if (isFinished(job)) void refresh()
    },
    onServer: (server) => dispatch({ type: 'changed', server }),
    onNews: () => void refresh(),
    onLine: setLine,
  })
  const live = list.servers.find(isLive)
  const underWay = live !== undefined && (live.stopping || !live.billed_from)
  const unheardEvery = underWay ? UNDER_WAY_EVERY_MS : UNCONNECTED_EVERY_MS
  usePoll(refresh, connection === 'live' ? USAGE_EVERY_MS : unheardEvery)
  useEffect(() => {
    if (connection !== 'live') dispatch({ type: 'unheard' })
  }, [connection, list.servers])

  // The notice at the top of the page, outside this island, depends on it: reload when it changes.
  useEffect(() => {
    if (noticeOf(counted) !== noticeOf(props.summary)) location.reload()
  }, [counted])

  const summary = usageAt(counted, list.servers, now)
  const { subscription, monthlyUsage } = summary
  const refusal = startRefusal(summary, list.servers)
  const canStart = !busy && !refusal
  const [ready, choose] = useStartTime(props, list.servers, !refusal, readAt)
  const begin = () =>
    void start({ ...chosenMachine(), ...chosenWorld(), ...chosenEnd(), ...chosenParameters(), ...chosenSecrets() })
  const isTrial = subscription?.sub_type === 'demo'
  const freeMinutes = isTrial ? trialMinutesLeft(monthlyUsage.hoursUsed) : null
  const trial =
    freeMinutes === null ? null : (
      <TrialBanner
        minutesLeft={freeMinutes}
        counting={live?.billed_from != null && !live.stopping}
        inCard={live !== undefined}
      />
    )
  const latest = trialEnd(summary, now)
  const ending = live && isEnding(live, now, latest) ? live : null
  const asks = props.asksEnd?.run === live?.id && props.asksEnd?.endsAt === live?.ends_at
  const Ending = usePart(endingAlert, ending !== null)
  const reachable = useReachable(live)
  // A start costs nothing and has no disk yet, so cancelling one needs no question.
  const askToStop = (server: Server) => {
    if (!server.active) return void stop(server)
    asker.current = document.activeElement as HTMLElement
    // If it can't be loaded, a page asks instead.
    void stopDialog().then(
      (file) => setAsking(() => file.StopDialog),
      () => location.assign('/stop_server'),
    )
  }
  useEffect(() => {
    if (live) void stopDialog().catch(() => {})
  }, [live === undefined])
  const job = list.lastJobId ? (list.jobs[list.lastJobId] ?? null) : null
  return (
    <div className="dashboard" onChange={choose}>
      <header className="page-head">
        <div>
          <h1>Dashboard</h1>
          <ConnectionLine connection={connection} knownAt={Math.max(heardAt, readAt)} />
        </div>
        <div className="row">
          <ButtonLink href="/subscriptions">Subscriptions</ButtonLink>
          <form action="/dashboard">
            <Button type="submit" onClick={instead(refresh)}>
              Refresh
            </Button>
          </form>
        </div>
      </header>
      {live && asks && !live.stopping ? (
        <EndQuestion server={live} now={now} csrfToken={props.csrfToken} onMove={(endsAt) => moveEnd(live, endsAt)} />
      ) : null}
      {live ? (
        <RunCard
          server={live}
          summary={summary}
          now={now}
          reachable={reachable}
          onStop={() => askToStop(live)}
          csrfToken={props.csrfToken}
          onMove={(endsAt) => moveEnd(live, endsAt)}
          latest={latest}
          guests={props.guests}
          trial={trial}
        >
          {props.restart?.run === live.id && !live.stopping ? props.restart.gives : null}
        </RunCard>
      ) : null}
      {ending && Ending ? (
        <Ending
          server={ending}
          now={now}
          csrfToken={props.csrfToken}
          onMove={(endsAt) => moveEnd(ending, endsAt)}
          latest={latest}
        />
      ) : null}
      {live ? null : trial}
      {line && !live ? <LineNote line={line} now={now} /> : null}
      {list.error ? (
        <ErrorState
          action={
            <Button small onClick={() => void refresh()}>
              Retry
            </Button>
          }
        >
          {list.error}
        </ErrorState>
      ) : null}
      <NoticeAlert
        notice={list.notice}
        job={job}
        now={now}
        usual={usualOf(props.startTimes, live)}
        onDismiss={() => dispatch({ type: 'notice_dismissed' })}
        onStart={canStart ? begin : null}
        mayWait={props.mayWait && !line}
      />
      {Asking && live && canStop(live) ? (
        <Asking
          server={live}
          summary={summary}
          now={now}
          filesStay={props.filesStay}
          asker={asker.current}
          onAnswer={(yes) => {
            setAsking(null)
            if (yes) void stop(live)
          }}
        />
      ) : null}
      <ByForm csrfToken={props.csrfToken} live={live} />
      <ActionsCard
        small={live !== undefined}
        canStart={canStart}
        onStart={begin}
        hint={refusal?.error ?? `${startCost(summary)} ${ready}`.trim()}
        choices={
          refusal ? null : (
            <>
              <WorldChoice
                worlds={props.worlds}
                last={props.typed ?? lastOf(list.servers)}
                plan={subscription?.plan_type}
                own={props.secrets?.own}
              />
              {isTrial ? null : <EndChoice last={props.stopAfter} />}
              <div className="folds">
                <MachineChoice machines={props.machines} />
                <ParametersChoice
                  last={props.typed?.parameters ?? writeParameters(list.servers[0]?.parameters ?? {})}
                />
                {props.secrets ? <SecretsChoice {...props.secrets} /> : null}
              </div>
            </>
          )
        }
      >
        {refusal?.page ? <a href={refusal.page}>{WAYS_OUT[refusal.page]}</a> : null}
      </ActionsCard>
      <UsageCard usage={monthlyUsage} subscription={subscription} unpaidDollars={props.unpaidDollars} />
      <SessionsTable
        servers={list.servers}
        summary={summary}
        loading={list.loading}
        now={now}
        reachable={reachable}
        onStop={askToStop}
      />
    </div>
  )
}

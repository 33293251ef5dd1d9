import { machineText } from '../domain/machine.ts'
import { costText, FREE_WORDS } from '../domain/money/money.ts'
import { freeBecause, sumOfLines } from '../domain/money/run-cost.ts'
import type { LogLine } from '../domain/run-log.ts'
import type { MachineUse } from '../domain/run-metrics.ts'
import {
  canStop,
  endedBecause,
  formatUptime,
  isLive,
  serverStatus,
  serverStatusColor,
  webAddress,
} from '../domain/server.ts'
import type { RunView } from '../domain/views.ts'
import { titleOf } from '../domain/worlds.ts'
import { Log } from '../islands/Log.tsx'
import { Alert } from '../ui/Alert.tsx'
import { Badge } from '../ui/Badge.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { DefinitionStats } from '../ui/DefinitionStats.tsx'
import { Field } from '../ui/Field.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { WhoMayEnter } from '../ui/WhoMayEnter.tsx'
import { Island } from './Island.tsx'
import { CostChart, ReceiptCard } from './run/CostCard.tsx'
import { Ec2Record } from './run/Ec2Record.tsx'
import { ParametersCard } from './run/ParametersCard.tsx'
import { ResourceCard } from './run/ResourceCard.tsx'
import { Timeline } from './run/Timeline.tsx'

type RunProps = RunView & {
  /** The time that this page shows. */
  asOf: string
  csrfToken: string
  flash: FlashMessage | null
  /** Its log's last lines; null if they couldn't be read. */
  log: LogLine[] | null
  /** How busy its machine was; null if that couldn't be read. */
  use: MachineUse | null
}

/** One run in full, ready to print. */
export function Run(props: RunProps) {
  const {
    server,
    end,
    events,
    lines,
    startup,
    provider,
    said,
    wishes,
    secrets,
    guests,
    asOf,
    csrfToken,
    flash,
    log,
    use,
  } = props
  const status = serverStatus(server)
  const cost = sumOfLines(lines)
  const free = freeBecause(lines)
  const live = isLive(server)
  const at = (live ? null : server.end_time) ?? server.requested_at
  const openEnd = server.until ? 'ends with its program' : 'no end set'
  const why = live ? (end ? null : openEnd) : server.error_message ? null : endedBecause(server)
  const answers = canStop(server) && server.billed_from !== null
  const isMetered = server.billed_from !== null
  // While it lives, its log says what it is doing. Afterward, the receipt matters more, unless the log may say why it
  // failed.
  const logFirst = live || (server.error_message !== null && log?.length !== 0)
  const logCard = <Island name="Log" of={Log} props={{ runId: server.id, live, last: log, csrfToken }} />
  return (
    // While it lives, follow.ts exchanges the parts marked data-live.
    <div className="page stack run-page" data-follow={live ? server.id : undefined}>
      <p className="no-print">
        <a href="/servers">Servers</a>
      </p>
      <div className="page-head">
        <div className="run-title">
          <div className="row">
            <h1 data-live="name">
              <bdi>{server.name ?? 'Server'}</bdi>
            </h1>
            <Rename server={server} csrfToken={csrfToken} flash={flash} />
          </div>
          <p className="hint">
            <code>{server.id}</code>
          </p>
        </div>
        <div data-live="head">
          <Badge color={serverStatusColor(status)}>{status}</Badge>
        </div>
      </div>
      <FlashAlert flash={flash} />
      <div data-live="failure">
        {!live && server.error_message ? (
          <Alert kind="danger" quiet>
            {server.error_message}
          </Alert>
        ) : null}
      </div>
      <div className="row no-print" data-live="actions">
        {live ? (
          <>
            {answers ? (
              <ButtonLink look="primary" href={webAddress(server)} target="_blank" rel="noreferrer">
                Open simulator
              </ButtonLink>
            ) : null}
            {server.door_url ? (
              <>
                <ButtonLink href={`/servers/${server.id}/share`}>Share</ButtonLink>
                <ButtonLink href={`/servers/${server.id}/connect`}>Connect your code</ButtonLink>
              </>
            ) : null}
            <ButtonLink href={`/servers/${server.id}`}>Refresh</ButtonLink>
            <ButtonLink href="/dashboard">Open the dashboard</ButtonLink>
            {answers ? (
              <ButtonLink href="/stop_server" look="danger">
                Stop
              </ButtonLink>
            ) : canStop(server) ? (
              <form method="post" action="/api/v1/aws/stop_server">
                <HiddenFields csrfToken={csrfToken} values={{ server_id: server.server_id, session_id: server.id }} />
                <Button type="submit">Cancel</Button>
              </form>
            ) : null}
            <span className="hint">
              As of <Time at={asOf} layout="clock" />
            </span>
          </>
        ) : (
          <form method="post" action="/api/v1/aws/auto_cloud_start_request">
            <HiddenFields csrfToken={csrfToken} values={wishes} />
            <Button type="submit" look="primary">
              Start again like this one
            </Button>
          </form>
        )}
      </div>
      {logFirst ? logCard : null}
      <div className="stack" data-live="record">
        <DefinitionStats
          stats={[
            ...(isMetered
              ? [
                  {
                    label: 'Metered',
                    value: formatUptime(cost.seconds),
                    hint: cost.seconds < 60 ? null : `${cost.seconds.toLocaleString('en-US')} seconds`,
                  },
                ]
              : []),
            ...(isMetered || !live
              ? [
                  {
                    label: live ? 'Cost so far' : 'Cost',
                    value: costText(cost.dollars),
                    hint: free ? FREE_WORDS[free] : 'USD',
                  },
                ]
              : []),
            {
              label: 'Machine',
              value: server.instance_type,
              hint: machineText(server.instance_type, server.availability_zone),
            },
            ...(server.environment && server.vehicle
              ? [
                  {
                    label: 'World',
                    value: <bdi>{server.environment}</bdi>,
                    hint: titleOf({ name: server.vehicle }),
                  },
                ]
              : []),
            ...(answers
              ? [
                  {
                    label: 'IP address',
                    value: (
                      <a className="mono" href={webAddress(server)} target="_blank" rel="noreferrer">
                        {server.ip_address}
                      </a>
                    ),
                    hint: server.door_url ? (
                      <WhoMayEnter untils={guests} now={Date.parse(asOf)} />
                    ) : (
                      'open to everyone who knows it'
                    ),
                  },
                ]
              : []),
            {
              label: live ? 'Requested' : 'Ended',
              value: <Time at={at} layout="time" />,
              hint: (
                <>
                  <Time at={at} layout="day" />
                  {why ? <> · {why}</> : null}
                </>
              ),
            },
            ...(live && end?.at
              ? [
                  {
                    label: 'Ends',
                    value: <Time at={end.at} layout="time" />,
                    hint: end.isTrial ? 'when your free minutes are used up' : <Time at={end.at} layout="day" />,
                  },
                ]
              : []),
          ]}
        />
        {isMetered || !(live || server.error_message) ? (
          <ReceiptCard lines={lines} startup={startup} said={live ? null : said}>
            {provider ? <Ec2Record server={server} provider={provider} /> : null}
          </ReceiptCard>
        ) : null}
        <div className="grid charts">
          <Timeline events={events} />
          <div className="grid">
            {use?.samples.length ? (
              <ResourceCard runId={server.id} instanceType={server.instance_type} use={use} />
            ) : null}
            <CostChart lines={lines} />
            <ParametersCard server={server} secrets={secrets} />
          </div>
        </div>
      </div>
      {logFirst ? null : logCard}
    </div>
  )
}

type RenameProps = Pick<RunProps, 'server' | 'csrfToken' | 'flash'>

/** Next to the heading that it changes, and outside of what live updates exchange, so that half-typed text stays. */
function Rename({ server, csrfToken, flash }: RenameProps) {
  const refused = flash?.kind === 'danger' && flash.values?.name !== undefined
  return (
    <details className="rename no-print" open={refused}>
      <summary>{server.name ? 'Rename' : 'Name it'}</summary>
      <form className="row" method="post" action={`/api/v1/servers/${server.id}`}>
        <HiddenFields csrfToken={csrfToken} method="put" />
        <Field
          name="name"
          label="Name of this server"
          maxLength={50}
          dir="auto"
          autoComplete="off"
          defaultValue={flash?.values?.name ?? server.name ?? ''}
        />
        <Button type="submit">Save</Button>
      </form>
    </details>
  )
}

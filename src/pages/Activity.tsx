import { deviceName } from '../domain/device-name.ts'
import { TRACE_DAYS } from '../domain/retention.ts'
import type { ActivityLine } from '../domain/views.ts'
import { Alert } from '../ui/Alert.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { type Column, DataTable } from '../ui/DataTable.tsx'
import { EmptyState } from '../ui/States.tsx'
import { Time } from '../ui/Time.tsx'
import { SettingsPage } from './settings/SettingsPage.tsx'

const COLUMNS: Column[] = [
  { key: 'what', label: 'What', rowHeader: true },
  { key: 'when', label: 'When' },
  { key: 'where', label: 'Device and address' },
]

type ActivityProps = {
  lines: ActivityLine[]
  older: string | null
  /** A sentence, on the first page; null if there were none. */
  refused: string | null
}

/** What happened to an account. */
export function Activity({ lines, older, refused }: ActivityProps) {
  const rows = lines.map((line) => ({
    id: line.id,
    cells: {
      what: (
        <span className="session-id">
          <bdi>{line.what}</bdi>
          {line.detail ? (
            <small>
              <bdi>{line.detail}</bdi>
            </small>
          ) : null}
        </span>
      ),
      when: <Time at={line.at} />,
      where: (
        <span className="session-id">
          {line.user_agent === null ? null : deviceName(line.user_agent)}
          {line.address === null ? null : <small className="mono address">{line.address}</small>}
          {line.user_agent === null && line.address === null ? '—' : null}
        </span>
      ),
    },
  }))
  return (
    <SettingsPage here="/account_overview" title="Activity" isPart>
      {refused ? (
        <Alert kind="warning">
          {refused} <a href="/account_overview#current_password">Change your password</a>
        </Alert>
      ) : null}
      <p>
        Sign-ins, API tokens, passwords, second factors, and plans of the last {TRACE_DAYS} days, and what our operators
        did. Something you don't know? Choose a new password: that signs out every other device and revokes your tokens.
      </p>
      {rows.length ? (
        <div className="card">
          <DataTable caption="Activity, newest first" hideCaption columns={COLUMNS} rows={rows} />
        </div>
      ) : (
        <EmptyState>{`Nothing happened in the last ${TRACE_DAYS} days.`}</EmptyState>
      )}
      {older ? (
        <nav className="row no-print" aria-label="Pages">
          <ButtonLink href={`/activity?${new URLSearchParams({ before: older })}`} rel="next">
            Older
          </ButtonLink>
        </nav>
      ) : null}
    </SettingsPage>
  )
}

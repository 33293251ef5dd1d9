import { deviceName } from '../domain/device-name.ts'
import type { SignIn } from '../domain/wire/accounts.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { type Column, DataTable } from '../ui/DataTable.tsx'
import type { FlashMessage } from '../ui/FlashAlert.tsx'
import { HiddenFields } from '../ui/HiddenFields.tsx'
import { Time } from '../ui/Time.tsx'
import { SettingsPage } from './settings/SettingsPage.tsx'

const COLUMNS: Column[] = [
  { key: 'device', label: 'Device', rowHeader: true },
  { key: 'address', label: 'Address' },
  { key: 'since', label: 'Signed in' },
  { key: 'seen', label: 'Last used' },
  { key: 'action', label: 'Actions', lead: true },
]

type DevicesProps = { devices: SignIn[]; csrfToken: string; flash: FlashMessage | null }

export function Devices({ devices, csrfToken, flash }: DevicesProps) {
  const rows = devices.map((device) => ({
    id: device.id,
    cells: {
      device: deviceName(device.user_agent),
      address: <span className="mono address">{device.address ?? 'unknown'}</span>,
      since: <Time at={device.created_at} layout="brief" />,
      seen: <Time at={device.last_seen_at} layout="brief" />,
      action: device.current ? (
        <Badge color="green">This device</Badge>
      ) : (
        <form method="post" action={`/api/v1/users/sign_ins/${device.id}`}>
          <HiddenFields csrfToken={csrfToken} method="delete" />
          <Button type="submit" small aria-label={`Sign out ${deviceName(device.user_agent)}`}>
            Sign out
          </Button>
        </form>
      ),
    },
  }))
  return (
    <SettingsPage
      here="/account_overview"
      title="Signed-in devices"
      isPart
      flash={flash}
      aside={
        <form method="post" action="/api/v1/users/sign_ins">
          <HiddenFields csrfToken={csrfToken} method="delete" />
          <Button type="submit" look="danger">
            Sign out everywhere
          </Button>
        </form>
      }
    >
      <div className="card">
        <DataTable caption="Where you are signed in" hideCaption columns={COLUMNS} rows={rows} />
      </div>
      <p className="hint">
        Signing out doesn't end your <a href="/settings/developers#api_tokens">API tokens</a>. A new password does.
      </p>
    </SettingsPage>
  )
}

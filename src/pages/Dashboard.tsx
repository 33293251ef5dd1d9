import { Dashboard as DashboardIsland, type DashboardProps } from '../islands/Dashboard.tsx'
import { Alert } from '../ui/Alert.tsx'
import { FlashAlert, type FlashMessage } from '../ui/FlashAlert.tsx'
import { FirstRun } from './FirstRun.tsx'
import { Island } from './Island.tsx'

export function Dashboard({ flash = null, ...props }: DashboardProps & { flash?: FlashMessage | null }) {
  return (
    <div className="page stack">
      <FlashAlert flash={flash} />
      <noscript>
        <Alert kind="warning">
          JavaScript is off, so this page doesn't update on its own. Press Refresh to see the latest.
        </Alert>
      </noscript>
      <Island name="Dashboard" of={DashboardIsland} props={props} />
      {props.servers.length ? null : <FirstRun />}
    </div>
  )
}

import { Dashboard as DashboardIsland, type DashboardProps } from '../islands/Dashboard.tsx'
import { Alert } from '../ui/Alert.tsx'
import { Island } from './Island.tsx'

export function Dashboard(props: DashboardProps) {
  return (
    <div className="page stack">
      <noscript>
        <Alert kind="warning">
          Without JavaScript this page shows what runs as of when it was loaded. Refresh shows how it went on.
        </Alert>
      </noscript>
      <Island name="Dashboard" of={DashboardIsland} props={props} />
    </div>
  )
}

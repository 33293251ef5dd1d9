import { Dashboard as DashboardIsland, type DashboardProps } from '../islands/Dashboard.tsx'
import { SuspendedNotice } from './billing/SuspendedNotice.tsx'
import { Island } from './Island.tsx'

export function Dashboard(props: DashboardProps) {
  return (
    <div className="page stack">
      {props.summary.suspended ? <SuspendedNotice /> : null}
      <Island name="Dashboard" of={DashboardIsland} props={props} />
    </div>
  )
}

import { Dashboard as DashboardIsland, type DashboardProps } from '../islands/Dashboard.tsx'
import { SuspendedNotice } from './billing/SuspendedNotice.tsx'
import { Island } from './Island.tsx'

export function Dashboard({ suspended, ...props }: DashboardProps & { suspended?: boolean }) {
  return (
    <div className="page stack">
      {suspended ? <SuspendedNotice /> : null}
      <Island name="Dashboard" of={DashboardIsland} props={props} />
    </div>
  )
}

import { Dashboard as DashboardIsland, type DashboardProps } from '../islands/Dashboard.tsx'
import { Island } from './Island.tsx'

export function Dashboard(props: DashboardProps) {
  return <Island name="Dashboard" of={DashboardIsland} props={props} />
}

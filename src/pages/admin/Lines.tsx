import { formatUptime } from '../../domain/server.ts'
import type { GroupLine, InLine, Waited } from '../../domain/views.ts'
import { Badge } from '../../ui/Badge.tsx'
import { BarChart } from '../../ui/BarChart.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { type Acting, AdminPage } from './AdminPage.tsx'
import { Groups } from './Groups.tsx'
import { Part } from './Part.tsx'

type LinesProps = {
  people: InLine[]
  waited: Waited[]
  short: { label: string; value: number }[]
  groups: GroupLine[]
  acting: Acting
}

const PEOPLE: Column[] = [
  { key: 'person', label: 'Person', rowHeader: true },
  { key: 'size', label: 'Machine' },
  { key: 'plan', label: 'Plan' },
  { key: 'position', label: 'Position', numeric: true },
  { key: 'state', label: 'State', lead: true },
  { key: 'joined', label: 'Joined' },
]
const WAITED: Column[] = [
  { key: 'size', label: 'Machine', rowHeader: true },
  { key: 'plan', label: 'Plan' },
  { key: 'served', label: 'Got a place', numeric: true },
  { key: 'left', label: 'Left', numeric: true },
  { key: 'median', label: 'Half waited at most', numeric: true },
  { key: 'longest', label: 'Longest', numeric: true },
]
const NEVER_SHORT = 'No one waited, and a place was always free.'
const COLORS = { waiting: 'yellow', held: 'green', starting: 'green' } as const
const machine = (gpus: number) => `${gpus} × L4`
const plan = (trial: boolean) => (trial ? 'Trial' : 'Paid')
const time = (seconds: number | null) => (seconds === null ? '—' : formatUptime(seconds))

/** Who is waiting for a server, how long people waited, and when there were too few. */
export function Lines({ people, waited, short, groups, acting }: LinesProps) {
  return (
    <AdminPage here="/admin/line" title="Line" acting={acting}>
      <Part title="In line now" none={people.length ? null : 'No one is in line.'}>
        <DataTable
          caption="In line now"
          hideCaption
          columns={PEOPLE}
          rows={people.map(({ userId, email, size, trial, position, joinedAt, state }) => ({
            id: userId,
            cells: {
              person: <a href={`/admin/people/${userId}`}>{email}</a>,
              size: machine(size),
              plan: plan(trial),
              position: position || '—',
              state: <Badge color={COLORS[state]}>{state}</Badge>,
              joined: <Time at={joinedAt} />,
            },
          }))}
        />
      </Part>
      <Groups groups={groups} acting={acting} />
      <Part title="How long people waited" none={waited.length ? null : 'No wait ended in the last 30 days.'}>
        <DataTable
          caption="In the last 30 days"
          columns={WAITED}
          rows={waited.map(({ size, trial, served, left, median, longest }) => ({
            id: `${size} ${trial}`,
            cells: {
              size: machine(size),
              plan: plan(trial),
              served,
              left,
              median: time(median),
              longest: time(longest),
            },
          }))}
        />
      </Part>
      <Part title="When capacity was short" none={short.some(({ value }) => value) ? null : NEVER_SHORT}>
        <BarChart
          bars={short.map((hour, i) => ({ ...hour, tick: i % 24 === 0 ? hour.label.slice(0, 3) : '' }))}
          unit="min"
          digits={1}
          caption="Minutes in which someone waited or no place was free, by hour of the week (UTC), on average over 4 weeks"
          empty={NEVER_SHORT}
        />
      </Part>
    </AdminPage>
  )
}

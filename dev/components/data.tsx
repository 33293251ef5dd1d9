import { Badge } from '../../src/ui/Badge.tsx'
import { BarChart } from '../../src/ui/BarChart.tsx'
import { Button } from '../../src/ui/Button.tsx'
import { DataTable } from '../../src/ui/DataTable.tsx'
import { DefinitionStats } from '../../src/ui/DefinitionStats.tsx'
import { Meter } from '../../src/ui/Meter.tsx'
import { EmptyState, ErrorState, Spinner } from '../../src/ui/States.tsx'
import { Time, TimeIn } from '../../src/ui/Time.tsx'
import type { Specimen } from './specimen.ts'

const AT = '2026-11-21T09:30:12.000Z'
const COLUMNS = [
  { key: 'name', label: 'Name', rowHeader: true },
  { key: 'state', label: 'State' },
  { key: 'hours', label: 'Hours', numeric: true },
]
const ROWS = [
  { id: '1', cells: { name: 'Kestrel', state: <Badge color="green">running</Badge>, hours: '12.50' } },
  { id: '2', cells: { name: 'Basalt', state: <Badge color="gray">stopped</Badge>, hours: '3.25' } },
]
const DAYS = Array.from({ length: 30 }, (_, day) => ({ label: `Nov ${day + 1}`, value: (day * 7) % 11 }))
const HOURS = Array.from({ length: 168 }, (_, hour) => ({
  label: `Hour ${hour}`,
  value: (hour * 5) % 60,
  tick: hour % 24 === 0 ? `Day ${hour / 24}` : '',
}))

export const DATA: Specimen[] = [
  {
    name: 'DataTable',
    file: 'src/ui/DataTable.tsx',
    states: {
      rows: <DataTable caption="Vehicles" columns={COLUMNS} rows={ROWS} />,
      'rows and a total': (
        <DataTable caption="Vehicles" columns={COLUMNS} rows={ROWS} foot={{ name: 'Total', hours: '15.75' }} />
      ),
      empty: <EmptyState>No billing records</EmptyState>,
      loading: <Spinner label="Refreshing…" />,
      error: <ErrorState>Failed to load billing</ErrorState>,
    },
  },
  {
    name: 'DefinitionStats',
    file: 'src/ui/DefinitionStats.tsx',
    states: {
      'numbers, one with a hint': (
        <DefinitionStats
          stats={[
            { label: 'Hours Used', value: '14.53' },
            { label: 'Server Sessions', value: 1_204 },
            { label: 'Amount Owed', value: '$1,007.94', hint: 'USD' },
          ]}
        />
      ),
    },
  },
  {
    name: 'Meter',
    file: 'src/ui/Meter.tsx',
    states: {
      none: <Meter label="Included hours" value={0} max={5} text="0.00 of 5 h" />,
      some: <Meter label="Included hours" value={3.2} max={5} text="3.20 of 5 h" />,
      'over the limit': <Meter label="Included hours" value={7.5} max={5} text="7.50 of 5 h" />,
    },
  },
  {
    name: 'BarChart',
    file: 'src/ui/BarChart.tsx',
    states: {
      '30 days': <BarChart bars={DAYS} unit="h" caption="Server hours, last 30 days (UTC)" empty="" />,
      'one month': <BarChart bars={[{ label: '2026-11', value: 12.3 }]} unit="USD" caption="Bills" empty="" />,
      'a week by the hour': <BarChart bars={HOURS} unit="min" caption="Minutes without a place" empty="" />,
      'nothing used': (
        <BarChart bars={[{ label: '2026-11', value: 0 }]} unit="USD" caption="Bills" empty="No usage charges yet." />
      ),
    },
  },
  {
    name: 'EmptyState',
    file: 'src/ui/States.tsx',
    states: {
      'a sentence': <EmptyState>No instances found.</EmptyState>,
      'with an action': (
        <EmptyState action={<Button small>Show all</Button>}>No instances match this filter.</EmptyState>
      ),
    },
  },
  {
    name: 'ErrorState',
    file: 'src/ui/States.tsx',
    states: {
      'a sentence': <ErrorState>Failed to load billing</ErrorState>,
      'with an action': <ErrorState action={<Button small>Retry</Button>}>Failed to load servers</ErrorState>,
    },
  },
  {
    name: 'Spinner',
    file: 'src/ui/States.tsx',
    states: {
      'with a label': <Spinner label="Connecting..." />,
    },
  },
  {
    name: 'Time',
    file: 'src/ui/Time.tsx',
    states: {
      full: <Time at={AT} />,
      brief: <Time at={AT} layout="brief" />,
      clock: <Time at={AT} layout="clock" />,
      'a UTC day': <Time at="2026-11-21" />,
    },
  },
  {
    name: 'TimeIn',
    file: 'src/ui/Time.tsx',
    states: {
      UTC: <TimeIn at={AT} local={false} />,
      'local time': <TimeIn at={AT} local />,
    },
  },
]

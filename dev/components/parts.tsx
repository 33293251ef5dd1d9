import { Alert, type AlertKind } from '../../src/ui/Alert.tsx'
import { Badge, type BadgeColor } from '../../src/ui/Badge.tsx'
import { BarChart } from '../../src/ui/BarChart.tsx'
import { Button, ButtonLink } from '../../src/ui/Button.tsx'
import { Card } from '../../src/ui/Card.tsx'
import { DataTable } from '../../src/ui/DataTable.tsx'
import { DefinitionStats } from '../../src/ui/DefinitionStats.tsx'
import { FlashAlert } from '../../src/ui/FlashAlert.tsx'
import { HiddenFields } from '../../src/ui/HiddenFields.tsx'
import { Icon, type IconName, Outline } from '../../src/ui/Icon.tsx'
import { Meter } from '../../src/ui/Meter.tsx'
import { Secret } from '../../src/ui/Secret.tsx'
import { EmptyState, ErrorState, Spinner } from '../../src/ui/States.tsx'
import { Time, TimeIn } from '../../src/ui/Time.tsx'
import { WhoMayEnter } from '../../src/ui/WhoMayEnter.tsx'
import { nothing, type Specimen } from './specimen.ts'

const KINDS: AlertKind[] = ['danger', 'success', 'info', 'warning']
const COLORS: BadgeColor[] = ['green', 'gray', 'yellow', 'red', 'dark']
const WORDS: Record<BadgeColor, string> = {
  green: 'running',
  gray: 'stopped',
  yellow: 'provisioning',
  red: 'error',
  dark: 'unknown',
}
const ICONS: IconName[] = ['check', 'circle-alert', 'circle-check', 'copy', 'info', 'play', 'triangle-alert', 'x']
const AT = '2026-11-21T09:30:12.000Z'
const LONG = "The server was not ready within 10 minutes. You weren't charged. Start another one, or contact us."

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

export const PARTS: Specimen[] = [
  {
    name: 'Alert',
    file: 'src/ui/Alert.tsx',
    states: [
      ...KINDS.map((kind): [string, React.ReactNode] => [
        kind,
        <Alert key={kind} kind={kind}>
          Something you should know.
        </Alert>,
      ]),
      ...KINDS.map((kind): [string, React.ReactNode] => [
        `${kind}, dismissible`,
        <Alert key={kind} kind={kind} dismissible>
          {LONG}
        </Alert>,
      ]),
    ],
  },
  {
    name: 'FlashAlert',
    file: 'src/ui/FlashAlert.tsx',
    states: [
      ['success', <FlashAlert key="s" flash={{ kind: 'success', message: 'Profile updated successfully!' }} />],
      ['danger', <FlashAlert key="d" flash={{ kind: 'danger', message: 'Invalid email or password.' }} />],
      ['no message', <FlashAlert key="n" flash={null} />],
    ],
  },
  {
    name: 'Secret',
    file: 'src/ui/Secret.tsx',
    states: [
      [
        'in an alert, the button comes with the script',
        <Alert key="s" kind="success">
          Your new token is ready.
          <Secret>pg_d19yVC22cnsu4noXDrpqz3ec3g6YZU2iQK7z</Secret>
        </Alert>,
      ],
    ],
  },
  {
    name: 'Badge',
    file: 'src/ui/Badge.tsx',
    states: COLORS.map((color) => [
      color,
      <Badge key={color} color={color}>
        {WORDS[color]}
      </Badge>,
    ]),
  },
  {
    name: 'Button',
    file: 'src/ui/Button.tsx',
    states: [
      ['default', <Button key="b">Refresh</Button>],
      [
        'primary',
        <Button key="b" look="primary">
          <Icon name="play" /> Start Server
        </Button>,
      ],
      [
        'danger',
        <Button key="b" look="danger">
          Stop
        </Button>,
      ],
      [
        'plain',
        <Button key="b" look="plain">
          Not now
        </Button>,
      ],
      [
        'small',
        <Button key="b" small>
          Retry
        </Button>,
      ],
      [
        'disabled',
        <span key="b" className="row">
          <Button disabled>Request More Servers</Button>
          <Button look="primary" disabled>
            Start Server
          </Button>
          <Button look="danger" disabled small>
            Stop
          </Button>
        </span>,
      ],
      [
        'busy',
        <Button key="b" look="primary" disabled aria-busy>
          Signing in...
        </Button>,
      ],
    ],
  },
  {
    name: 'ButtonLink',
    file: 'src/ui/Button.tsx',
    states: [
      [
        'default, primary, small',
        <span key="l" className="row">
          <ButtonLink href="#ButtonLink">Billing History</ButtonLink>
          <ButtonLink href="#ButtonLink" look="primary">
            Contact sales
          </ButtonLink>
          <ButtonLink href="#ButtonLink" small>
            Open
          </ButtonLink>
        </span>,
      ],
    ],
  },
  {
    name: 'Card',
    file: 'src/ui/Card.tsx',
    states: [
      [
        'with a title',
        <Card key="c" title="Profile">
          <p>The card's content.</p>
        </Card>,
      ],
      [
        'with a badge',
        <Card key="c" title="Billing" aside={<Badge color="yellow">Due</Badge>}>
          <p>The card's content.</p>
        </Card>,
      ],
      [
        'without a title',
        <Card key="c">
          <p>The card's content.</p>
        </Card>,
      ],
    ],
  },
  {
    name: 'DataTable',
    file: 'src/ui/DataTable.tsx',
    states: [
      ['rows', <DataTable key="t" caption="Vehicles" columns={COLUMNS} rows={ROWS} />],
      [
        'rows and a total',
        <DataTable key="t" caption="Vehicles" columns={COLUMNS} rows={ROWS} foot={{ name: 'Total', hours: '15.75' }} />,
      ],
      ['empty', <EmptyState key="t">No billing records</EmptyState>],
      ['loading', <Spinner key="t" label="Refreshing…" />],
      ['error', <ErrorState key="t">Failed to load billing</ErrorState>],
    ],
  },
  {
    name: 'DefinitionStats',
    file: 'src/ui/DefinitionStats.tsx',
    states: [
      [
        'numbers, one with a hint',
        <DefinitionStats
          key="s"
          stats={[
            { label: 'Hours Used', value: '14.53' },
            { label: 'Server Sessions', value: 1_204 },
            { label: 'Amount Owed', value: '$1,007.94', hint: 'USD' },
          ]}
        />,
      ],
    ],
  },
  {
    name: 'Meter',
    file: 'src/ui/Meter.tsx',
    states: [
      ['none', <Meter key="m" label="Included hours" value={0} max={5} text="0.00 of 5 h" />],
      ['some', <Meter key="m" label="Included hours" value={3.2} max={5} text="3.20 of 5 h" />],
      ['over the limit', <Meter key="m" label="Included hours" value={7.5} max={5} text="7.50 of 5 h" />],
    ],
  },
  {
    name: 'BarChart',
    file: 'src/ui/BarChart.tsx',
    states: [
      ['30 days', <BarChart key="c" bars={DAYS} unit="h" caption="Server hours, last 30 days (UTC)" empty="" />],
      [
        'one month',
        <BarChart key="c" bars={[{ label: '2026-11', value: 12.3 }]} unit="USD" caption="Bills" empty="" />,
      ],
      ['a week by the hour', <BarChart key="c" bars={HOURS} unit="min" caption="Minutes without a place" empty="" />],
      [
        'nothing used',
        <BarChart
          key="c"
          bars={[{ label: '2026-11', value: 0 }]}
          unit="USD"
          caption="Bills"
          empty="No usage charges yet."
        />,
      ],
    ],
  },
  {
    name: 'EmptyState',
    file: 'src/ui/States.tsx',
    states: [
      ['a sentence', <EmptyState key="e">No instances found.</EmptyState>],
      [
        'with an action',
        <EmptyState key="e" action={<Button small>Show all</Button>}>
          No instances match this filter.
        </EmptyState>,
      ],
    ],
  },
  {
    name: 'ErrorState',
    file: 'src/ui/States.tsx',
    states: [
      ['a sentence', <ErrorState key="e">Failed to load billing</ErrorState>],
      [
        'with an action',
        <ErrorState key="e" action={<Button small>Retry</Button>}>
          Failed to load servers
        </ErrorState>,
      ],
    ],
  },
  {
    name: 'Spinner',
    file: 'src/ui/States.tsx',
    states: [['with a label', <Spinner key="s" label="Connecting..." />]],
  },
  {
    name: 'Time',
    file: 'src/ui/Time.tsx',
    states: [
      ['full', <Time key="t" at={AT} />],
      ['brief', <Time key="t" at={AT} layout="brief" />],
      ['clock', <Time key="t" at={AT} layout="clock" />],
      ['a UTC day', <Time key="t" at="2026-11-21" />],
    ],
  },
  {
    name: 'WhoMayEnter',
    file: 'src/ui/WhoMayEnter.tsx',
    states: [
      ['only you', <WhoMayEnter key="w" untils={[]} now={0} />],
      ['guests', <WhoMayEnter key="w" untils={['2026-11-21T18:00:00Z']} now={Date.UTC(2026, 10, 21)} />],
    ],
  },
  {
    name: 'TimeIn',
    file: 'src/ui/Time.tsx',
    states: [
      ['UTC', <TimeIn key="t" at={AT} local={false} />],
      ['local time', <TimeIn key="t" at={AT} local />],
    ],
  },
  {
    name: 'Icon',
    file: 'src/ui/Icon.tsx',
    states: ICONS.map((name) => [name, <Icon key={name} name={name} size={20} />]),
  },
  {
    name: 'Outline',
    file: 'src/ui/Icon.tsx',
    states: [['any path', <Outline key="o" path="M4 20 12 4l8 16Z" size={20} />]],
  },
  {
    name: 'HiddenFields',
    file: 'src/ui/HiddenFields.tsx',
    states: [
      [
        'in a form: two hidden inputs, nothing visible',
        <form key="h" action="#HiddenFields" onSubmit={nothing}>
          <HiddenFields csrfToken="token" method="put" />
        </form>,
      ],
    ],
  },
]

import type { Bill } from '../../src/domain/money/bill.ts'
import type { PlanType } from '../../src/domain/money/plan.ts'
import { SUSPENDED } from '../../src/domain/money/start-cost.ts'
import { ALL_RESERVED, STARTING, STOPPING } from '../../src/domain/server-list.ts'
import type { Job, LinePlace, Server, Subscription, Summary } from '../../src/domain/wire.ts'
import { worldsFor } from '../../src/domain/worlds.ts'
import { ActionsCard } from '../../src/islands/dashboard/ActionsCard.tsx'
import { Address } from '../../src/islands/dashboard/Address.tsx'
import { ByForm } from '../../src/islands/dashboard/ByForm.tsx'
import { ConnectionLine } from '../../src/islands/dashboard/ConnectionLine.tsx'
import { DoorRow } from '../../src/islands/dashboard/DoorRow.tsx'
import { EndChoice } from '../../src/islands/dashboard/EndChoice.tsx'
import { EndForm, MoveForm, To } from '../../src/islands/dashboard/EndForm.tsx'
import { EndingAlert } from '../../src/islands/dashboard/EndingAlert.tsx'
import { LineNote } from '../../src/islands/dashboard/LineNote.tsx'
import { MachineChoice } from '../../src/islands/dashboard/MachineChoice.tsx'
import { NoCapacity } from '../../src/islands/dashboard/NoCapacity.tsx'
import { NoticeAlert } from '../../src/islands/dashboard/NoticeAlert.tsx'
import { RunCard } from '../../src/islands/dashboard/RunCard.tsx'
import { RunMeter } from '../../src/islands/dashboard/RunMeter.tsx'
import { SessionsTable } from '../../src/islands/dashboard/SessionsTable.tsx'
import { SteadyButton } from '../../src/islands/dashboard/SteadyButton.tsx'
import { StopDialogAs } from '../../src/islands/dashboard/StopDialog.tsx'
import { TrialBanner } from '../../src/islands/dashboard/TrialBanner.tsx'
import { UsageCard } from '../../src/islands/dashboard/UsageCard.tsx'
import { WorldChoice } from '../../src/islands/dashboard/WorldChoice.tsx'
import type { Connection } from '../../src/islands/jobs-channel.ts'
import { SAMPLE_SERVER } from '../sample-server.ts'
import { nothing, type Specimen } from './specimen.ts'

const FOLDER = 'src/islands/dashboard'
const NOW = Date.parse('2026-11-21T09:30:00.000Z')
const iso = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString()

const RUNNING: Server = {
  ...SAMPLE_SERVER,
  id: 'ses_01kahq3v8x4m2n6p7r9t',
  server_id: 'srv_place-1',
  active: true,
  pending: false,
  requested_at: iso(3_900),
  startedAt: iso(3_725),
  billed_from: iso(3_605),
  ip_address: '203.0.113.24',
}
const ended = { active: false, end_time: iso(60) }

/** A run in each state, by its badge's text. */
const SERVERS: [state: string, server: Server][] = [
  ['provisioning', { ...RUNNING, active: false, pending: true, startedAt: null, billed_from: null, ip_address: null }],
  ['running, connecting', { ...RUNNING, startedAt: iso(95), billed_from: null }],
  ['running', RUNNING],
  ['running, with a name and an end', { ...RUNNING, name: 'رحلة ليلية 7', ends_at: iso(-5_400) }],
  ['stopping', { ...RUNNING, stopping: true, end_time: iso(0) }],
  ['stopped', { ...RUNNING, ...ended, cost_dollars: 1.7, ended_because: 'you' }],
  [
    'error',
    {
      ...RUNNING,
      ...ended,
      startedAt: null,
      billed_from: null,
      error_message: 'The server was not ready within 10 minutes.',
    },
  ],
]

const PREMIUM: Subscription = {
  plan_type: 'premium',
  status: 'active',
  current_period_start: iso(10 * 86_400),
  current_period_end: iso(-20 * 86_400),
  hours: 30,
  sub_type: 'paid',
  cancel_at_period_end: false,
  next_plan_type: 'premium',
  next_hours: 30,
}
const DEMO: Subscription = { ...PREMIUM, plan_type: 'demo', status: 'trialing', hours: 0.5, sub_type: 'demo' }

export const BILL: Bill = {
  id: 'bill_1',
  kind: 'usage',
  start_date: '2026-10-10',
  end_date: '2026-11-10',
  amount_owed: 7.94,
  seconds_used: 52_331,
  paid: true,
  overdue: false,
  transaction_id: 'in_1QF2ab',
  plan: 'Premium',
  invoice_url: 'https://invoice.example/in_1',
  invoice_pdf: 'https://invoice.example/in_1/pdf',
  due_date: '2026-11-25',
  dollars_due: 0,
  corrects: null,
  reason: null,
}
export const OVERDUE: Bill = {
  ...BILL,
  id: 'bill_2',
  paid: false,
  overdue: true,
  transaction_id: null,
  dollars_due: 7.94,
}

export const summaryOf = (hoursUsed: number, subscription: Subscription | null, dollars = 0): Summary => ({
  monthlyUsage: { hoursUsed, serverSessions: 12, runningServers: 1, amountOwedDollars: dollars },
  subscription,
  suspended: false,
  start_refusal: null,
  as_of: iso(0),
})
export const PLANS = { premium: PREMIUM, demo: DEMO }

const JOB: Job = {
  id: 'job_1',
  kind: 'server_start',
  status: 'running',
  progress: 'Booting the server.',
  result: null,
  error_message: null,
  error_code: null,
  server: null,
  created_at: iso(7),
  updated_at: iso(2),
}

const line = (connection: Connection) => <ConnectionLine connection={connection} knownAt={Date.now() - 12_000} />
const runCard = (server: Server, summary: Summary, reachable = true) => (
  <RunCard
    server={server}
    summary={summary}
    now={NOW}
    csrfToken=""
    reachable={reachable}
    onStop={nothing}
    onMove={nothing}
    latest={null}
    guests={[]}
  />
)
const EVERY: PlanType[] = ['demo', 'basic', 'premium', 'enterprise']
const CATALOG = [
  ...['Blocks', 'Neighborhood', 'Mountains'].map((name) => ({ name, description: 'Made up.', plans: EVERY })),
  { name: 'Harbor', description: 'Made up.', plans: EVERY.slice(2) },
]
const world = (plan: PlanType, last: Pick<Server, 'environment' | 'vehicle'>[]) => (
  <WorldChoice worlds={worldsFor(plan, CATALOG)} servers={last.map((each) => ({ ...RUNNING, ...each }))} />
)
const endForm = (server: Server) => <EndForm server={server} now={NOW} csrfToken="" onMove={nothing} latest={null} />
const doorRow = (...untils: number[]) => (
  <DoorRow server={RUNNING} now={NOW} guests={untils.map((ago) => ({ run: RUNNING.id, until: iso(ago) }))} />
)
const SMALL = { instance_type: 'g6.4xlarge', availability_zone: 'us-east-1a' }
const LARGE = { instance_type: 'g6.12xlarge', availability_zone: 'us-east-1b' }
const usage = ({ monthlyUsage, subscription }: Summary, openInvoices: Bill[] = []) => (
  <UsageCard usage={monthlyUsage} subscription={subscription} openInvoices={openInvoices} />
)
const LINE: LinePlace = {
  size: 1,
  position: 3,
  estimate_seconds: { p50: 700, p90: 2_400 },
  held_until: null,
  starts_by_itself: false,
}
const lineNote = (change: Partial<LinePlace>) => <LineNote line={{ ...LINE, ...change }} now={NOW} />
const notice = (kind: 'danger' | 'success' | 'info', text: string, job: Job | null = null) => (
  <NoticeAlert
    notice={{ kind, text, job: job?.id ?? null }}
    job={job}
    now={NOW}
    onDismiss={nothing}
    mayWait
    onStart={nothing}
  />
)
const table = (servers: Server[], loading = false) => (
  <SessionsTable
    servers={servers}
    summary={summaryOf(3, null)}
    loading={loading}
    now={NOW}
    reachable
    onStop={nothing}
  />
)

export const DASHBOARD: Specimen[] = [
  {
    name: 'ConnectionLine',
    file: `${FOLDER}/ConnectionLine.tsx`,
    states: [
      ['connecting', line('connecting')],
      ['live', line('live')],
      ['reconnecting', line('reconnecting')],
      ['blocked', line('blocked')],
      ['off', line('off')],
    ],
  },
  {
    name: 'RunCard',
    file: `${FOLDER}/RunCard.tsx`,
    states: [
      ...SERVERS.slice(0, 4).map(([state, server]): [string, React.ReactNode] => [
        state,
        runCard(server, summaryOf(3, state === 'stopping' ? PREMIUM : null), state !== 'running, connecting'),
      ]),
      ['with files that it can only read', runCard({ ...RUNNING, files_read_only: 'full' }, summaryOf(3, null))],
    ],
  },
  {
    name: 'DoorRow',
    file: `${FOLDER}/DoorRow.tsx`,
    states: [
      ['only you', doorRow()],
      ['a guest', doorRow(-3600)],
      ['guests, for days', doorRow(-3600, -200_000)],
    ],
  },
  {
    name: 'EndForm',
    file: `${FOLDER}/EndForm.tsx`,
    states: [
      ['no end', endForm(RUNNING)],
      ['in hours', endForm({ ...RUNNING, ends_at: iso(-10_740) })],
      ['in days', endForm({ ...RUNNING, ends_at: iso(-200_000) })],
    ],
  },
  {
    name: 'MoveForm',
    file: `${FOLDER}/EndForm.tsx`,
    states: [
      [
        'one button',
        <MoveForm key="f" server={RUNNING} csrfToken="" onMove={nothing}>
          <To at={NOW}>Add an hour</To>
        </MoveForm>,
      ],
    ],
  },
  {
    name: 'To',
    file: `${FOLDER}/EndForm.tsx`,
    states: [
      [
        'button',
        <To key="t" at={null}>
          No end
        </To>,
      ],
    ],
  },
  {
    name: 'EndChoice',
    file: `${FOLDER}/EndChoice.tsx`,
    states: [
      ['last choice', <EndChoice key="c" last={14_400} freeMinutes={null} />],
      ['set with the API', <EndChoice key="c" last={5_400} freeMinutes={null} />],
      ['no end', <EndChoice key="c" last={null} freeMinutes={null} />],
      ['trial', <EndChoice key="c" last={null} freeMinutes={29.15} />],
    ],
  },
  {
    name: 'EndingAlert',
    file: `${FOLDER}/EndingAlert.tsx`,
    states: [
      [
        'minutes left',
        <EndingAlert
          key="a"
          server={{ ...RUNNING, ends_at: iso(-582) }}
          now={NOW}
          csrfToken=""
          onMove={nothing}
          latest={null}
        />,
      ],
    ],
  },
  {
    name: 'SteadyButton',
    file: `${FOLDER}/SteadyButton.tsx`,
    states: [
      ['enabled', <SteadyButton key="b">Stop</SteadyButton>],
      [
        'disabled',
        <SteadyButton key="b" disabled>
          Stop
        </SteadyButton>,
      ],
    ],
  },
  {
    name: 'StopDialogAs',
    file: `${FOLDER}/StopDialog.tsx`,
    states: [
      [
        'billed',
        <div key="s" className="card ask">
          <StopDialogAs server={RUNNING} summary={summaryOf(3, null)} now={NOW} />
        </div>,
      ],
    ],
  },
  {
    name: 'TrialBanner',
    file: `${FOLDER}/TrialBanner.tsx`,
    states: [
      ['minutes left', <TrialBanner key="t" minutesLeft={17.25} counting={false} />],
      ['counting', <TrialBanner key="t" minutesLeft={17.25} counting />],
      ['5 minutes left', <TrialBanner key="t" minutesLeft={4.52} counting />],
      ['1 minute left', <TrialBanner key="t" minutesLeft={0.7} counting />],
      ['none left', <TrialBanner key="t" minutesLeft={0} counting={false} />],
    ],
  },
  {
    name: 'NoticeAlert',
    file: `${FOLDER}/NoticeAlert.tsx`,
    states: [
      ['start requested', notice('info', STARTING)],
      ['starting', notice('info', STARTING, JOB)],
      ['starting, longer than promised', notice('info', STARTING, { ...JOB, created_at: iso(47) })],
      ['stopping', notice('info', STOPPING)],
      ['succeeded', notice('success', 'Your server is running.')],
      ['failed', notice('danger', 'Error: launch_refused')],
      ['no capacity', notice('danger', `${ALL_RESERVED} (Checked 6 candidates)`)],
    ],
  },
  {
    name: 'NoCapacity',
    file: `${FOLDER}/NoCapacity.tsx`,
    states: [
      ['where nobody can wait', <NoCapacity key="o" onStart={nothing} mayWait={false} />],
      ['waiting', <NoCapacity key="n" onStart={nothing} mayWait />],
    ],
  },
  {
    name: 'LineNote',
    file: `${FOLDER}/LineNote.tsx`,
    states: [
      ['waiting', lineNote({})],
      ['held', lineNote({ position: 0, held_until: iso(-272) })],
      ['about to start', lineNote({ position: 0, starts_by_itself: true })],
    ],
  },
  {
    name: 'ByForm',
    file: `${FOLDER}/ByForm.tsx`,
    states: [['without script', <ByForm key="b" csrfToken="token" live={RUNNING} />]],
  },
  {
    name: 'ActionsCard',
    file: `${FOLDER}/ActionsCard.tsx`,
    states: [
      [
        'enabled',
        <ActionsCard
          key="a"
          canStart
          onStart={nothing}
          hint="You have 30.00 free minutes. Startup time doesn't count."
        />,
      ],
      [
        'disabled, with the reason',
        <ActionsCard key="a" canStart={false} onStart={nothing} hint="One server at a time: stop this one first." />,
      ],
      [
        'beside a live server',
        <ActionsCard
          key="a"
          small
          canStart={false}
          onStart={nothing}
          hint="One server at a time: stop this one before you start another."
        />,
      ],
      [
        'suspended',
        <ActionsCard key="a" canStart={false} onStart={nothing} hint={SUSPENDED}>
          <a href="/billing_history">View and pay</a>
        </ActionsCard>,
      ],
    ],
  },
  {
    name: 'UsageCard',
    file: `${FOLDER}/UsageCard.tsx`,
    states: [
      ['no plan', usage(summaryOf(3, null, 5.25))],
      ['within the plan', usage(summaryOf(14.53, PREMIUM))],
      ['over the plan', usage(summaryOf(36.5, PREMIUM, 11.37))],
      ['open invoices', usage(summaryOf(3, PREMIUM), [OVERDUE])],
    ],
  },
  {
    name: 'MachineChoice',
    file: `${FOLDER}/MachineChoice.tsx`,
    states: [
      ['one size', <MachineChoice key="m" machines={[SMALL]} />],
      ['a smaller one to choose', <MachineChoice key="m" machines={[LARGE, SMALL]} />],
      ['none free', <MachineChoice key="m" machines={[]} />],
    ],
  },
  {
    name: 'WorldChoice',
    file: `${FOLDER}/WorldChoice.tsx`,
    states: [
      ['on Basic', world('basic', [])],
      ['on Premium, the last choice', world('premium', [{ environment: 'Harbor', vehicle: 'multi' }])],
      ['the last choice is no longer included', world('basic', [{ environment: 'Harbor', vehicle: 'multi' }])],
    ],
  },
  {
    name: 'SessionsTable',
    file: `${FOLDER}/SessionsTable.tsx`,
    states: [
      ...SERVERS.map(([state, server]): [string, React.ReactNode] => [state, table([server])]),
      ['several', table(SERVERS.map(([, server], i) => ({ ...server, id: `${server.id}${i}` })))],
      ['empty', table([])],
      [
        'loading',
        table(
          SERVERS.slice(1, 2).map(([, server]) => server),
          true,
        ),
      ],
    ],
  },
  {
    name: 'Address',
    file: `${FOLDER}/Address.tsx`,
    states: [
      ['running, reachable', <Address key="a" server={RUNNING} reachable />],
      ...SERVERS.map(([state, server]): [string, React.ReactNode] => [
        state,
        <Address key="a" server={server} reachable={false} />,
      ]),
    ],
  },
  {
    name: 'RunMeter',
    file: `${FOLDER}/RunMeter.tsx`,
    states: [
      ['free trial', <RunMeter key="r" server={RUNNING} summary={summaryOf(1.1, DEMO)} now={NOW} />],
      ['within the plan', <RunMeter key="r" server={RUNNING} summary={summaryOf(14, PREMIUM)} now={NOW} />],
      ['billed', <RunMeter key="r" server={RUNNING} summary={summaryOf(3, null)} now={NOW} />],
    ],
  },
]

import type { Estimate } from '../../src/domain/estimate.ts'
import type { PlanType } from '../../src/domain/money/plan.ts'
import { SUSPENDED } from '../../src/domain/money/start-cost.ts'
import { ALL_RESERVED, STARTING, STOPPING } from '../../src/domain/server-list.ts'
import type { Summary } from '../../src/domain/wire/billing.ts'
import type { Job, LinePlace, Server } from '../../src/domain/wire/fleet.ts'
import { worldsFor } from '../../src/domain/worlds.ts'
import { ActionsCard } from '../../src/islands/dashboard/ActionsCard.tsx'
import { ByForm } from '../../src/islands/dashboard/ByForm.tsx'
import { ConnectionLine } from '../../src/islands/dashboard/ConnectionLine.tsx'
import { EndChoice } from '../../src/islands/dashboard/EndChoice.tsx'
import { LineNote } from '../../src/islands/dashboard/LineNote.tsx'
import { MachineChoice } from '../../src/islands/dashboard/MachineChoice.tsx'
import { NoCapacity } from '../../src/islands/dashboard/NoCapacity.tsx'
import { NoticeAlert } from '../../src/islands/dashboard/NoticeAlert.tsx'
import { ParametersChoice } from '../../src/islands/dashboard/ParametersChoice.tsx'
import { SecretsChoice } from '../../src/islands/dashboard/SecretsChoice.tsx'
import { TrialBanner } from '../../src/islands/dashboard/TrialBanner.tsx'
import { UsageCard } from '../../src/islands/dashboard/UsageCard.tsx'
import { WorldChoice } from '../../src/islands/dashboard/WorldChoice.tsx'
import type { Connection } from '../../src/islands/jobs-channel.ts'
import { iso, JOB, NOW, ON_PREMIUM, RUNNING, summaryOf } from './samples.ts'
import { nothing, type Specimen } from './specimen.ts'

const FOLDER = 'src/islands/dashboard'
const line = (connection: Connection) => <ConnectionLine connection={connection} knownAt={Date.now() - 12_000} />
const EVERY: PlanType[] = ['demo', 'basic', 'premium', 'enterprise']
const CATALOG = [
  ...['Blocks', 'Neighborhood', 'Mountains'].map((name) => ({ name, description: 'Made up.', plans: EVERY })),
  { name: 'Harbor', description: 'Made up.', plans: EVERY.slice(2) },
]
const world = (plan: PlanType, last: Pick<Server, 'environment' | 'vehicle'>[]) => (
  <WorldChoice worlds={worldsFor(plan, CATALOG)} last={last[0]} />
)
const ownSecrets = (last: string[]) => (
  <div className="card">
    <input type="radio" hidden defaultChecked data-own />
    <SecretsChoice names={['LICENSE_KEY', 'REGISTRY_TOKEN']} own={['Harbor']} last={last} />
  </div>
)
const SMALL = { instance_type: 'g6.4xlarge', availability_zone: 'us-east-1a', warm: false }
const LARGE = { instance_type: 'g6.12xlarge', availability_zone: 'us-east-1b', warm: false }
const usage = ({ monthlyUsage, subscription }: Summary, unpaidDollars = 0) => (
  <UsageCard usage={monthlyUsage} subscription={subscription} unpaidDollars={unpaidDollars} />
)
const LINE: LinePlace = {
  size: 1,
  position: 3,
  estimate_seconds: { p50: 700, p90: 2_400 },
  held_until: null,
  starts_by_itself: false,
}
const lineNote = (change: Partial<LinePlace>) => <LineNote line={{ ...LINE, ...change }} now={NOW} />
const notice = (kind: 'danger' | 'success' | 'info', text: string, job: Job | null = null, usual?: Estimate) => (
  <NoticeAlert
    notice={{ kind, text, job: job?.id ?? null }}
    job={job}
    now={NOW}
    usual={usual}
    onDismiss={nothing}
    mayWait
    onStart={nothing}
  />
)

export const DASHBOARD: Specimen[] = [
  {
    name: 'ConnectionLine',
    file: `${FOLDER}/ConnectionLine.tsx`,
    states: {
      connecting: line('connecting'),
      live: line('live'),
      reconnecting: line('reconnecting'),
      blocked: line('blocked'),
      off: line('off'),
    },
  },
  {
    name: 'EndChoice',
    file: `${FOLDER}/EndChoice.tsx`,
    states: {
      'last choice': <EndChoice last={14_400} />,
      'set with the API': <EndChoice last={5_400} />,
      'no end': <EndChoice last={null} />,
    },
  },
  {
    name: 'TrialBanner',
    file: `${FOLDER}/TrialBanner.tsx`,
    states: {
      'minutes left': <TrialBanner minutesLeft={17.25} counting={false} />,
      counting: <TrialBanner minutesLeft={17.25} counting />,
      '5 minutes left': <TrialBanner minutesLeft={4.52} counting />,
      '1 minute left': <TrialBanner minutesLeft={0.7} counting />,
      'none left': <TrialBanner minutesLeft={0} counting={false} />,
    },
  },
  {
    name: 'NoticeAlert',
    file: `${FOLDER}/NoticeAlert.tsx`,
    states: {
      'start requested': notice('info', STARTING),
      starting: notice('info', STARTING, JOB),
      'starting, longer than promised': notice('info', STARTING, { ...JOB, created_at: iso(47) }),
      'starting, as long as usual': notice('info', STARTING, { ...JOB, created_at: iso(47) }, { p50: 70, p90: 110 }),
      'starting, longer than usual': notice('info', STARTING, { ...JOB, created_at: iso(147) }, { p50: 70, p90: 110 }),
      stopping: notice('info', STOPPING),
      succeeded: notice('success', 'Your server is running.'),
      failed: notice('danger', 'Error: launch_refused'),
      'no capacity': notice('danger', `${ALL_RESERVED} (Checked 6 candidates)`),
    },
  },
  {
    name: 'NoCapacity',
    file: `${FOLDER}/NoCapacity.tsx`,
    states: {
      'where nobody can wait': <NoCapacity onStart={nothing} mayWait={false} />,
      waiting: <NoCapacity onStart={nothing} mayWait />,
    },
  },
  {
    name: 'LineNote',
    file: `${FOLDER}/LineNote.tsx`,
    states: {
      waiting: lineNote({}),
      held: lineNote({ position: 0, held_until: iso(-272) }),
      'about to start': lineNote({ position: 0, starts_by_itself: true }),
    },
  },
  {
    name: 'ByForm',
    file: `${FOLDER}/ByForm.tsx`,
    states: {
      'without script': <ByForm csrfToken="token" live={RUNNING} />,
    },
  },
  {
    name: 'ActionsCard',
    file: `${FOLDER}/ActionsCard.tsx`,
    states: {
      enabled: (
        <ActionsCard canStart onStart={nothing} hint="You have 30.00 free minutes. Startup time doesn't count." />
      ),
      'disabled, with the reason': (
        <ActionsCard canStart={false} onStart={nothing} hint="One server at a time: stop this one first." />
      ),
      'beside a live server': (
        <ActionsCard
          small
          canStart={false}
          onStart={nothing}
          hint="One server at a time: stop this one before you start another."
        />
      ),
      suspended: (
        <ActionsCard canStart={false} onStart={nothing} hint={SUSPENDED}>
          <a href="/billing_history">View and pay</a>
        </ActionsCard>
      ),
    },
  },
  {
    name: 'UsageCard',
    file: `${FOLDER}/UsageCard.tsx`,
    states: {
      'no plan': usage(summaryOf(3, null, 5.25)),
      'within the plan': usage(summaryOf(14.53, ON_PREMIUM)),
      'over the plan': usage(summaryOf(36.5, ON_PREMIUM, 11.37)),
      'unpaid invoices': usage(summaryOf(3, ON_PREMIUM), 7.94),
    },
  },
  {
    name: 'MachineChoice',
    file: `${FOLDER}/MachineChoice.tsx`,
    states: {
      'one size': <MachineChoice machines={[SMALL]} />,
      'a smaller one to choose': <MachineChoice machines={[LARGE, SMALL]} />,
      'none free': <MachineChoice machines={[]} />,
    },
  },
  {
    name: 'ParametersChoice',
    file: `${FOLDER}/ParametersChoice.tsx`,
    states: {
      'folded away': <ParametersChoice last="" />,
      'with those of the last start': <ParametersChoice last={'SCENARIO=harbor-fog\nSEED=42'} />,
    },
  },
  {
    name: 'SecretsChoice',
    file: `${FOLDER}/SecretsChoice.tsx`,
    states: {
      'folded away': ownSecrets([]),
      'with those of the last start': ownSecrets(['LICENSE_KEY']),
    },
  },
  {
    name: 'WorldChoice',
    file: `${FOLDER}/WorldChoice.tsx`,
    states: {
      'on Basic': world('basic', []),
      'on Premium, the last choice': world('premium', [{ environment: 'Harbor', vehicle: 'multi' }]),
      'the last choice is no longer included': world('basic', [{ environment: 'Harbor', vehicle: 'multi' }]),
    },
  },
]

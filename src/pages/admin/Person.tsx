import { deviceName } from '../../domain/device-name.ts'
import { dollars } from '../../domain/money/money.ts'
import type { PersonDetails } from '../../domain/person-details.ts'
import { canStop, formatUptime, serverStatus, serverStatusColor } from '../../domain/server.ts'
import { Badge } from '../../ui/Badge.tsx'
import { Card } from '../../ui/Card.tsx'
import { type Column, DataTable } from '../../ui/DataTable.tsx'
import { DefinitionStats } from '../../ui/DefinitionStats.tsx'
import { Time } from '../../ui/Time.tsx'
import { type Acting, AdminPage } from './AdminPage.tsx'
import { AuditTable } from './AuditTable.tsx'
import { Part } from './Part.tsx'
import { STATE_COLORS } from './People.tsx'
import { PersonActs } from './PersonActs.tsx'

const RUN_COLUMNS: Column[] = [
  { key: 'run', label: 'Run', rowHeader: true },
  { key: 'requested', label: 'Requested' },
  { key: 'state', label: 'State' },
  { key: 'instance', label: 'Instance' },
  { key: 'cost', label: 'Cost', numeric: true, lead: true },
]
const BILL_COLUMNS: Column[] = [
  { key: 'bill', label: 'Bill', rowHeader: true },
  { key: 'period', label: 'Period' },
  { key: 'used', label: 'Used', numeric: true },
  { key: 'amount', label: 'Amount', numeric: true, lead: true },
  { key: 'status', label: 'Status' },
]
const DEVICE_COLUMNS: Column[] = [
  { key: 'device', label: 'Device', rowHeader: true },
  { key: 'address', label: 'Address' },
  { key: 'seen', label: 'Last used', lead: true },
]

/** @param self the admin is looking at their own account, where they can't act */
export function Person({ person, acting, self }: { person: PersonDetails; acting: Acting; self: boolean }) {
  const { plan } = person
  const live = person.runs.find(canStop)
  return (
    <AdminPage
      here={null}
      title={person.name || person.email}
      aside={<Badge color={STATE_COLORS[person.state]}>{person.state}</Badge>}
      // The card below says where to confirm the password.
      acting={{ ...acting, confirmAt: null }}
    >
      <DefinitionStats
        stats={[
          { label: 'Plan', value: plan ? planName(plan) : 'none', hint: plan ? planHint(plan) : 'nothing included' },
          { label: 'Server', value: live ? serverStatus(live) : 'none', hint: live?.instance_type ?? 'nothing runs' },
          { label: 'Bills', value: person.bills.length, hint: dollars(sum(person.bills)) },
          { label: 'Devices', value: person.sign_ins.length, hint: 'signed in' },
        ]}
      />
      <Card title="Account">
        <ul className="plain-list">
          <li>{person.email}</li>
          <li className="mono">{person.id}</li>
          {person.stripe_customer_id ? <li className="mono">{person.stripe_customer_id}</li> : null}
          <li>
            Signed up <Time at={person.created_at} />
          </li>
          {person.admin ? <li>Is an admin</li> : null}
          <When text="Suspended by an operator" at={person.held_at} />
          <When text="Suspended for an overdue invoice" at={person.suspended_at} />
          <When text="Closed" at={person.closed_at} />
        </ul>
      </Card>
      <Card title="Act">
        {self ? (
          <p>This is your own account. Ask another admin.</p>
        ) : acting.confirmAt ? (
          <p>
            First, <a href={acting.confirmAt}>confirm it’s you</a>.
          </p>
        ) : (
          <PersonActs person={person} live={live ?? null} acting={acting} />
        )}
      </Card>
      <Part title="Runs" none={person.runs.length ? null : 'No runs yet.'}>
        <DataTable caption="Latest runs" hideCaption columns={RUN_COLUMNS} rows={person.runs.map(runRow)} />
      </Part>
      <Part title="Bills" none={person.bills.length ? null : 'No bills yet.'}>
        <DataTable caption="Latest bills" hideCaption columns={BILL_COLUMNS} rows={person.bills.map(billRow)} />
      </Part>
      <Part title="Sign-ins" none={person.sign_ins.length ? null : 'Not signed in anywhere.'}>
        <DataTable
          hideCaption
          caption="Where they are signed in"
          columns={DEVICE_COLUMNS}
          rows={person.sign_ins.map((device) => ({
            id: device.id,
            cells: {
              device: deviceName(device.user_agent),
              address: <span className="mono address">{device.address ?? 'unknown'}</span>,
              seen: <Time at={device.last_seen_at} />,
            },
          }))}
        />
      </Part>
      <Part title="What operators did" none={person.acts.length ? null : 'Nothing yet.'}>
        <AuditTable lines={person.acts} caption="What operators did" />
      </Part>
    </AdminPage>
  )
}

function When({ text, at }: { text: string; at: string | null }) {
  return at ? (
    <li>
      {text} <Time at={at} />
    </li>
  ) : null
}

const planName = ({ type }: NonNullable<PersonDetails['plan']>) => (type === 'demo' ? 'trial' : type)

function planHint({ status, hours, paid_through_stripe }: NonNullable<PersonDetails['plan']>): string {
  return `${status}, ${hours} h${paid_through_stripe ? ', through Stripe' : ''}`
}

const sum = (bills: PersonDetails['bills']) => bills.reduce((total, bill) => total + bill.dollars, 0)

function runRow(run: PersonDetails['runs'][number]) {
  const status = serverStatus(run)
  return {
    id: run.id,
    cells: {
      run: (
        <a className="mono" href={`/admin/runs/${run.id}`}>
          {run.id}
        </a>
      ),
      state: <Badge color={serverStatusColor(status)}>{status}</Badge>,
      requested: <Time at={run.requested_at} />,
      instance: <span className="mono">{run.instance_id ?? '—'}</span>,
      cost: dollars(run.cost_dollars ?? run.cost_so_far),
    },
  }
}

function billRow(bill: PersonDetails['bills'][number]) {
  return {
    id: bill.id,
    cells: {
      bill: <span className="mono">{bill.id}</span>,
      period: (
        <span>
          <Time at={bill.start.slice(0, 10)} /> – <Time at={bill.end.slice(0, 10)} />
        </span>
      ),
      used: formatUptime(Math.abs(bill.seconds)),
      amount: dollars(bill.dollars),
      status: bill.corrects ? 'correction' : bill.status,
    },
  }
}

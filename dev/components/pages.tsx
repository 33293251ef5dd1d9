import { NEWEST_FIRST } from '../../src/domain/instance-view.ts'
import type { Bill, Statement } from '../../src/domain/money/bill.ts'
import { BASIC, type Plan, PREMIUM } from '../../src/domain/money/plan.ts'
import type { Subscription } from '../../src/domain/wire/billing.ts'
import type { Instance } from '../../src/domain/wire/fleet.ts'
import { InstanceTable } from '../../src/islands/console/InstanceTable.tsx'
import { BillingCard } from '../../src/pages/billing/BillingCard.tsx'
import { BillsTable } from '../../src/pages/billing/BillsTable.tsx'
import { ChargeUsage } from '../../src/pages/billing/ChargeUsage.tsx'
import { Corrections, WhatWasCorrected } from '../../src/pages/billing/Correction.tsx'
import { KeepPlan } from '../../src/pages/billing/KeepPlan.tsx'
import { OpenInvoices } from '../../src/pages/billing/OpenInvoices.tsx'
import { PlanChoice } from '../../src/pages/billing/PlanChoice.tsx'
import { PortalForm } from '../../src/pages/billing/PortalForm.tsx'
import { SubscriptionCard } from '../../src/pages/billing/SubscriptionCard.tsx'
import { Failure } from '../../src/pages/Failure.tsx'
import { AccountNotice } from '../../src/pages/layout/AccountNotice.tsx'
import { NotFound } from '../../src/pages/NotFound.tsx'
import { BILL, ON_PREMIUM, ON_TRIAL, OVERDUE, summaryOf } from './samples.ts'
import { nothing, type Specimen } from './specimen.ts'

const NOW = Date.parse('2026-11-21T09:30:00.000Z')

const FEE: Bill = {
  ...BILL,
  id: 'fee_1',
  kind: 'plan',
  amount_owed: 250,
  seconds_used: 0,
  due_date: null,
  transaction_id: 'in_1QF2fe',
  invoice_number: 'PG-000011',
  amount_refunded: 0,
  dispute: null,
}
const UNPAID: Bill = { ...FEE, id: 'fee_2', paid: false, dollars_due: 250 }
const CARD = { summary: summaryOf(3, ON_PREMIUM), unpaidDollars: 0, overdue: false }
const CREDIT: Bill = {
  ...BILL,
  id: 'bill_3',
  amount_owed: -1.75,
  seconds_used: -3_600,
  corrects: 'bill_1',
  reason: 'Outage',
}

const CREDIT_STATEMENT: Statement = {
  ...CREDIT,
  bill_to: null,
  included_hours: 0,
  trial: false,
  charged_seconds: 0,
  lines: [],
  corrections: [],
}

const STATES = ['running', 'pending', 'stopping', 'shutting-down', 'stopped', 'terminated', 'rebooting']
const HEALTH = ['ok', 'impaired', 'insufficient-data', 'initializing', null]
const INSTANCES = STATES.map(
  (state, i): Instance => ({
    instance_id: `i-0a1b2c3d4e5f6${i}`,
    name: i === 1 ? null : `proving-ground-${i}`,
    instance_type: 'g6.4xlarge',
    state,
    status_check: HEALTH[i % HEALTH.length] ?? null,
    private_ip: `10.0.0.${i + 4}`,
    public_ip: i === 1 ? null : `203.0.113.${i}`,
    launch_time: new Date(NOW - (i + 1) * 5_000_000).toISOString(),
    run_id: i === 4 ? null : `ses_${i}`,
    owner_id: i === 4 ? null : 'user_ada',
    owner_email: i === 4 ? null : 'ada@example.com',
    environment: i === 4 ? null : 'Mountains',
    vehicle: i === 4 ? null : 'ugv',
    cost_dollars: i === 4 ? null : i * 1.75,
  }),
)

const plan = (subscription: Parameters<typeof SubscriptionCard>[0]['subscription']) => (
  <SubscriptionCard subscription={subscription} csrfToken="token" flash={null} />
)

const choice = (offer: Plan, subscription: Subscription | null, upgradeWaits = false) => (
  <PlanChoice
    plan={offer}
    subscription={subscription}
    changeable
    upgradeWaits={upgradeWaits}
    forSale={subscription !== null}
    csrfToken="token"
  />
)

export const PAGES: Specimen[] = [
  {
    name: 'SubscriptionCard',
    file: 'src/pages/billing/SubscriptionCard.tsx',
    states: {
      'no plan': plan(null),
      trial: plan({ ...ON_TRIAL, current_period_end: null }),
      active: plan(ON_PREMIUM),
      canceled: plan({ ...ON_PREMIUM, cancel_at_period_end: true }),
      upgraded: plan({ ...ON_PREMIUM, hours: 24.36, next_hours: 30 }),
      'becomes Basic': plan({ ...ON_PREMIUM, next_plan_type: 'basic', next_hours: 5 }),
      'past due': plan({ ...ON_PREMIUM, status: 'past_due' }),
    },
  },
  {
    name: 'KeepPlan',
    file: 'src/pages/billing/KeepPlan.tsx',
    states: {
      ends: <KeepPlan subscription={{ ...ON_PREMIUM, cancel_at_period_end: true }} csrfToken="" />,
      'becomes Basic': <KeepPlan subscription={{ ...ON_PREMIUM, next_plan_type: 'basic' }} csrfToken="" />,
    },
  },
  {
    name: 'PlanChoice',
    file: 'src/pages/billing/PlanChoice.tsx',
    states: {
      current: choice(PREMIUM, ON_PREMIUM),
      unpaid: choice(PREMIUM, { ...ON_PREMIUM, status: 'past_due' }),
      upgrade: choice(PREMIUM, { ...ON_PREMIUM, plan_type: 'basic' }),
      'upgrade waits for the bank': choice(PREMIUM, { ...ON_PREMIUM, plan_type: 'basic' }, true),
      downgrade: choice(BASIC, ON_PREMIUM),
      'starts later': choice(BASIC, { ...ON_PREMIUM, next_plan_type: 'basic' }),
      'not for sale': choice(BASIC, null),
    },
  },
  {
    name: 'BillingCard',
    file: 'src/pages/billing/BillingCard.tsx',
    states: {
      paid: <BillingCard {...CARD} />,
      due: <BillingCard {...CARD} summary={summaryOf(36, ON_PREMIUM, 10.5)} />,
      overdue: <BillingCard {...CARD} unpaidDollars={257.94} overdue />,
    },
  },
  {
    name: 'OpenInvoices',
    file: 'src/pages/billing/OpenInvoices.tsx',
    states: {
      'a bill and a plan': <OpenInvoices bills={[OVERDUE, UNPAID]} />,
    },
  },
  {
    name: 'ChargeUsage',
    file: 'src/pages/billing/ChargeUsage.tsx',
    states: {
      'not asked yet': <ChargeUsage charging="unasked" csrfToken="" />,
      on: <ChargeUsage charging="on" csrfToken="" />,
      off: <ChargeUsage charging="off" csrfToken="" />,
    },
  },
  {
    name: 'PortalForm',
    file: 'src/pages/billing/PortalForm.tsx',
    states: {
      'as is': <PortalForm csrfToken="" />,
    },
  },
  {
    name: 'BillsTable',
    file: 'src/pages/billing/BillsTable.tsx',
    states: {
      'paid and overdue': <BillsTable bills={[OVERDUE, BILL]} total={null} />,
      'one month, with its total': <BillsTable bills={[BILL]} total={7.94} />,
      'a correction': <BillsTable bills={[CREDIT, BILL]} total={null} />,
      "a plan's payments": <BillsTable bills={[UNPAID, FEE]} total={500} />,
      empty: <BillsTable bills={[]} total={null} />,
    },
  },
  {
    name: 'WhatWasCorrected',
    file: 'src/pages/billing/Correction.tsx',
    states: {
      "on a credit's statement": <WhatWasCorrected statement={CREDIT_STATEMENT} />,
    },
  },
  {
    name: 'Corrections',
    file: 'src/pages/billing/Correction.tsx',
    states: {
      'on the corrected statement': <Corrections corrections={[CREDIT]} />,
    },
  },
  {
    name: 'AccountNotice',
    file: 'src/pages/layout/AccountNotice.tsx',
    states: {
      suspended: <AccountNotice issue="suspended" overdue={{ dollars: 5.25, payUrl: '/pay' }} links />,
      'two overdue': <AccountNotice issue="suspended" overdue={{ dollars: 9, payUrl: null }} links />,
      'unpaid plan': <AccountNotice issue="plan_unpaid" overdue={null} links />,
    },
  },
  {
    name: 'InstanceTable',
    file: 'src/islands/console/InstanceTable.tsx',
    states: {
      'every state and health': // Its columns follow the island's width.
        (
          <div key="i" className="console">
            <div data-island="">
              <InstanceTable instances={INSTANCES} view={NEWEST_FIRST} now={NOW} local={false} onView={nothing} />
            </div>
          </div>
        ),
    },
  },
  {
    name: 'NotFound',
    file: 'src/pages/NotFound.tsx',
    states: {
      'signed out': <NotFound path="/no/such/page" signedIn={false} back={null} />,
      'signed in': <NotFound path="/no/such/page" signedIn back="/dashboard" />,
    },
  },
  {
    name: 'Failure',
    file: 'src/pages/Failure.tsx',
    states: {
      'the database is down': <Failure sentence="We can't reach our database." path="/billing_history" />,
    },
  },
]

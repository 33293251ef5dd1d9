import type { Bill } from '../../src/domain/money/bill.ts'
import type { Subscription, Summary } from '../../src/domain/wire/billing.ts'
import type { Job, Server } from '../../src/domain/wire/fleet.ts'
import { SAMPLE_SERVER } from '../sample-server.ts'

/** What the components show. */

export const NOW = Date.parse('2026-11-21T09:30:00.000Z')
export const iso = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString()

export const RUNNING: Server = {
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
export const SERVERS: [state: string, server: Server][] = [
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

export const ON_PREMIUM: Subscription = {
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
export const ON_TRIAL: Subscription = {
  ...ON_PREMIUM,
  plan_type: 'demo',
  status: 'trialing',
  hours: 0.5,
  sub_type: 'demo',
}

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
  invoice_number: 'PG-000012',
  amount_refunded: 0,
  dispute: null,
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
  invoice_number: null,
  amount_refunded: 0,
  dispute: null,
  dollars_due: 7.94,
}

export const summaryOf = (hoursUsed: number, subscription: Subscription | null, dollars = 0): Summary => ({
  monthlyUsage: { hoursUsed, serverSessions: 12, runningServers: 1, amountOwedDollars: dollars },
  subscription,
  suspended: false,
  start_refusal: null,
  as_of: iso(0),
})
export const JOB: Job = {
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

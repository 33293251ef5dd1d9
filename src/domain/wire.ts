import type { PlanType } from './money/plan.ts'

/** The shapes that cross the wire, spelled as clients know them. Times are ISO 8601 in UTC; `docs/api.md` describes every call. */
export type User = { id: string; name: string; email: string; admin: boolean }

/** One row of the Sessions table: a run of a server. Live while `active` or `pending`; `stopping` says that its end was asked for. */
export type Server = {
  id: string
  server_id: string
  active: boolean
  pending: boolean
  stopping: boolean
  end_time: string | null
  startedAt: string | null
  /** When it first answered: what is before is free. */
  billed_from: string | null
  ip_address: string | null
  instance_type: string
  error_message: string | null
}

export type JobKind = 'server_start' | 'server_stop'
export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed'

export type Job = {
  id: string
  kind: JobKind
  status: JobStatus
  /** What it is doing, while it runs. */
  progress: string | null
  /** A sentence to show once it succeeded. */
  result: string | null
  error_message: string | null
  error_code: string | null
  server: Server | null
  created_at: string
  updated_at: string
}

type Candidate = {
  instance_type: string
  availability_zone: string
  server_id: string
  available: boolean
  reason: string | null
}

export type Availability = { ServerAvailable: boolean; candidates: Candidate[] }

export type Subscription = {
  plan_type: PlanType
  status: string
  current_period_start: string
  /** Null for a demo, which has no cycle: it ends with its minutes. */
  current_period_end: string | null
  hours: number
  sub_type: 'demo' | 'paid'
  cancel_at_period_end: boolean
}

export type MonthlyUsage = {
  hoursUsed: number
  serverSessions: number
  runningServers: number
  amountOwedDollars: number
}

export type Summary = {
  monthlyUsage: MonthlyUsage
  subscription: Subscription | null
  /** While an invoice is overdue no server can be started. */
  suspended: boolean
  /** The moment up to which the usage is counted. */
  as_of: string
}

export type BillingRecord = {
  id: string
  start_date: string
  end_date: string
  amount_owed: number
  seconds_used: number
  paid: boolean
  overdue: boolean
  transaction_id: string | null
}

export type Instance = {
  instance_id: string
  name: string | null
  instance_type: string
  state: string
  status_check: string | null
  private_ip: string | null
  public_ip: string | null
  launch_time: string | null
  /** Whose run it serves; null when no run of ours is known for it. */
  owner_email: string | null
  /** Its run's seconds so far at the hourly price, before any included hours; null like the owner. */
  cost_dollars: number | null
}

/** What somebody wrote to sales, or a customer's wish for more servers. */
export type Message = {
  id: string
  kind: 'sales' | 'more_servers'
  name: string
  email: string
  /** Where a writer to sales heard of us. */
  source: string | null
  message: string | null
  created_at: string
}

/** One place where the user is signed in. */
export type SignIn = {
  id: string
  /** The one that asks. */
  current: boolean
  user_agent: string | null
  address: string | null
  created_at: string
  last_seen_at: string
}

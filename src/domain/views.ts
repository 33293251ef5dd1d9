import type { Bill } from './money/bill.ts'
import type { Budget } from './money/budget.ts'
import type { ChargeChoice } from './money/charge.ts'
import type { PlanType } from './money/plan.ts'
import type { CostLine } from './money/run-cost.ts'
import type { StartTimes } from './start-time.ts'
import type { Incident } from './status.ts'
import type { WarmCost } from './warm-hours.ts'
import type { Summary } from './wire/billing.ts'
import type { GuestEnd } from './wire/door.ts'
import type { Delivery, Webhook } from './wire/events.ts'
import type { Job, LinePlace, Machine, ProviderRecord, RunEvent, Server, Worlds } from './wire/fleet.ts'

/** What a verb returns for its page. Times that are numbers are ms since 1970, the others ISO 8601. */

export type DashboardView = {
  servers: Server[]
  jobs: Job[]
  summary: Summary
  machines: Machine[]
  worlds: Worlds
  startTimes: StartTimes
  /** Their place in line for a server. */
  line: LinePlace | null
  /** Whether people can wait in line here. */
  mayWait: boolean
  /** After how many seconds a start ends it, as they last chose; null: it runs until they stop it. */
  stopAfter: number | null
  /** The live run whose end we set when they bought a plan, and that end: until it changes, we ask for another. */
  asksEnd: { run: string; endsAt: string } | null
  /** What a restart would get, if the user's plan has become larger since the live run started. */
  restart: { run: string; gives: string } | null
  guests: GuestEnd[]
  /** The secrets and images that a start of their own images can name, and what the last start named. Null: none, or no own image. */
  secrets: { names: string[]; own: string[]; last: string[] } | null
  /** Whether what a server saves in /data outlasts it. */
  filesStay: boolean
  /** What they chose in a refused start, instead of their last choice. */
  typed?: { environment: string; vehicle: string; parameters: string }
}

/** A person's runs, newest first, 50 a page. */
export type RunListView = {
  servers: Server[]
  page: number
  /** At least 1. */
  pages: number
  /** How many the filter finds. */
  total: number
  /** Every month with a run, newest first, whatever the filter. */
  months: string[]
}

/** One run with everything that we know about it. */
export type RunView = {
  server: Server
  /**
   * The first thing that will end it, as far as we know: its user's end, or their trial. Null: nothing. `at` is null
   * until a trial's meter starts.
   */
  end: { at: string | null; isTrial: boolean } | null
  events: RunEvent[]
  lines: CostLine[]
  /** Until the meter started, or the start ended. */
  startup: { from: string; until: string; seconds: number }
  provider: ProviderRecord | null
  /** What we said when it ended. */
  said: string | null
  /** What a similar start sends. */
  wishes: Record<string, string>
  /** The names of the secrets that its container got. */
  secrets: string[]
  /** Until when its guests may enter. */
  guests: string[]
}

/** What the account page shows about money. */
export type BillingView = {
  summary: Summary
  /** The unpaid total of closed bills and of the plan. */
  unpaidDollars: number
  /** What is unpaid and can be paid now, oldest first. */
  openInvoices: Bill[]
  overdue: boolean
  hasPortal: boolean
  budget: Budget | null
  /** When the month ends; null during a trial. */
  until: string | null
  /** Whether we charge their card for usage. */
  charging: ChargeChoice
}

/** What another plan would mean. */
export type ChangeQuote = {
  from: PlanType
  to: PlanType
  kind: 'upgrade' | 'downgrade'
  /** What an upgrade costs now; null for a downgrade. */
  cents: number | null
  quotedAt: number
  /** Hours of the current period after the change. */
  hours: number
  periodEnd: number
}

/** An endpoint with its latest deliveries, newest first. */
export type WebhookView = {
  webhook: Webhook
  deliveries: Delivery[]
  /** When the replaced secrets stop signing. */
  oldSecretsEnd: string[]
}

export type StatusView = {
  /** When our checks began, and when the last one was. Null before the first. */
  firstAt: number | null
  lastAt: number | null
  /** Those of the last 90 days, the newest first. */
  incidents: Incident[]
}

/** A place in the console and in `npm run fleet`. */
export type PlaceLine = {
  id: string
  type: string
  zone: string
  /** Null: the zone's own, or EC2_LAUNCH_TEMPLATE. */
  template: string | null
  gpus: number
  state:
    | 'free'
    | 'free, warm'
    | 'free, warming'
    | 'reserved'
    | 'ending'
    | 'set aside'
    | 'drained'
    | 'drained, in use'
    | 'retired'
    | 'retired, in use'
  since: string | null
}

/** The warm machines of a type in a zone, likewise. */
export type WarmLine = {
  type: string
  zone: string
  time_zone: string
  /** `sat 9-12: 5`; empty: none. */
  hours: string
  /** Now, and the hour that comes. */
  wanted: number
  ready: number
  /** Those that are booting or ending. */
  others: number
  /** The hourly cost of one. */
  hour_dollars: number | null
  week: WarmCost | null
  /** What the starts of the last weeks suggest. */
  suggested: string
}

/** An environment of the catalog, likewise. */
export type EnvironmentLine = {
  name: string
  description: string
  image: string | null
  plans: PlanType[]
  position: number
  retiredAt: string | null
}

/** A group with places held back, in the console. Times are ISO 8601. */
export type GroupLine = {
  id: string
  name: string
  gpus: number
  places: number
  from: string
  until: string
  state: 'upcoming' | 'on' | 'ended'
  code: string | null
  /** How many people belong to it, and how many places they have now. */
  people: number
  used: number
  /** Free places that are held back for it, and places that it lacks beyond those. 0 unless it is on. */
  held: number
  missing: number
}

/** One group, with its people. */
export type GroupRecord = Pick<GroupLine, 'id' | 'name' | 'gpus' | 'places' | 'from' | 'until' | 'state' | 'code'> & {
  people: { email: string; joinedAt: string; userId: string | null; hasServer: boolean }[]
}

/** Someone in line, in the console. */
export type InLine = {
  userId: string
  email: string
  size: number
  trial: boolean
  position: number | null
  joinedAt: string
  state: 'waiting' | 'held' | 'starting'
}

/** The waits of one size and class. `median` and `longest` are seconds; null if nobody got a place. */
export type Waited = {
  size: number
  trial: boolean
  served: number
  left: number
  median: number | null
  longest: number | null
}

/** Something that happened to an account, in words for its owner. */
export type ActivityLine = {
  id: string
  at: string
  what: string
  detail: string | null
  user_agent: string | null
  address: string | null
}

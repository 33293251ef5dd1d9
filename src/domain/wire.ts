import type { TokenScope } from './api-token.ts'
import type { PlanType } from './money/plan.ts'
import type { NoticeKind } from './notice.ts'
import type { RunParameters } from './parameters.ts'
import type { EndReason, JobErrorCode, RunErrorCode } from './run-end.ts'
import type { RunEventKind } from './run-event.ts'
import type { EventType } from './webhook.ts'

/** What crosses the wire, spelled as clients know it. Times are ISO 8601 in UTC; `docs/api.md` describes every call. */
export type User = { id: string; name: string; email: string; admin: boolean }

/** A run: one row of the Sessions table. Live while `active` or `pending`; `stopping` once a stop is requested. */
export type Server = {
  id: string
  /** What its user calls it. */
  name: string | null
  server_id: string
  active: boolean
  pending: boolean
  stopping: boolean
  requested_at: string
  /** When its user wants it to end. */
  ends_at: string | null
  end_time: string | null
  startedAt: string | null
  /** When it first answered; everything before is free. */
  billed_from: string | null
  ip_address: string | null
  /** Its own private address: only its owner and their guests come in. Null without a door, and while nothing answers. */
  door_url: string | null
  instance_type: string
  /** Where it runs; null for runs from before we kept it. */
  availability_zone: string | null
  /** Why it can only read its user's files: at its start they were full, or there was no plan. Null: it can write, or has none. */
  files_read_only: 'full' | 'ended' | 'none' | null
  /** Whether at least 90 % of its disk is used. */
  disk_nearly_full: boolean
  /** What it simulates; null for runs from before people could choose. */
  environment: string | null
  vehicle: Vehicle | null
  /** The variables that its start gave its container. */
  parameters: RunParameters
  /** `exit`: it ends with its program. Null: when its user stops it, or at its end. */
  until: 'exit' | null
  /** The words that start its program, in place of its image's own. */
  command: string[] | null
  /** What its program ended with, if the run ended or failed with it. */
  exit_code: number | null
  /**
   * What it added to its month's bill. Null while it is live, if it spans two months, and for runs from before we
   * kept it.
   */
  cost_dollars: number | null
  /** Null while it is live. `failure`: see `error_code` and `error_message`. */
  ended_because: EndReason | null
  /** Why it failed; null if it didn't. */
  error_code: RunErrorCode | null
  error_message: string | null
}

/** What happened to a run, as its page and the API name it. */
export type RunEventName =
  | RunEventKind
  | 'requested'
  | 'place_refused'
  | 'launched'
  | 'booting'
  | 'running'
  | 'answered'
  | 'program_started'
  | 'exited'
  | 'stopped'
  | 'failed'
  | 'meter_ended'
  | 'machine_ended'
  | 'gone'

/** `detail` is a sentence to show, where there's more to say. */
export type RunEvent = { at: string; what: RunEventName; detail: string | null }

/** EC2's own record of a machine that has ended. `reason` in its words. */
export type ProviderRecord = { launched_at: string; ended_at: string | null; reason: string | null }

/** What a person finds under the bell. `link` is a path of ours, or an invoice at Stripe. */
export type Notice = {
  id: string
  kind: NoticeKind
  at: string
  title: string
  text: string
  link: string | null
  label: string | null
  read: boolean
}

export type JobKind = 'server_start' | 'server_stop'
export type JobStatus = 'queued' | 'running' | 'succeeded' | 'failed'

export type Job = {
  id: string
  kind: JobKind
  status: JobStatus
  /** What it is doing, while it runs. */
  progress: string | null
  /** A sentence to show once it has succeeded. */
  result: string | null
  error_message: string | null
  error_code: JobErrorCode | null
  server: Server | null
  created_at: string
  updated_at: string
}

export type Machine = {
  instance_type: string
  availability_zone: string
}

type Candidate = Machine & {
  server_id: string
  available: boolean
  reason: string | null
}

/** Someone's place in line. `position`: 1 is next, 0 once a place is theirs. `held_until`: when it goes to the next. */
export type LinePlace = {
  /** GPUs of the machine that they wait for. */
  size: number
  position: number
  /** From now. Null: we don't know yet. */
  estimate_seconds: { p50: number; p90: number } | null
  held_until: string | null
  starts_by_itself: boolean
}

export type Availability = { ServerAvailable: boolean; candidates: Candidate[] }

export type Vehicle = 'uav' | 'ugv' | 'multi'

/** A place to fly or drive in; `available`: the caller's plan includes it. */
export type Environment = { name: string; description: string; plans: PlanType[]; available: boolean }

/** Build Your Own: a container image that the account brings. */
export type OwnEnvironment = {
  name: string
  image: string
  /** Null if its tag decides at each start which image runs. */
  digest: string | null
  created_at: string
}

/** What a server can simulate. */
export type Worlds = {
  environments: Environment[]
  vehicles: { name: Vehicle; plans: PlanType[]; available: boolean }[]
}

export type Subscription = {
  plan_type: PlanType
  status: string
  current_period_start: string
  /** Null for a demo: it has no cycle and ends when its minutes are used up. */
  current_period_end: string | null
  hours: number
  sub_type: 'demo' | 'paid'
  cancel_at_period_end: boolean
  /** The plan of the next period and its hours; null if there is none. */
  next_plan_type: PlanType | null
  next_hours: number | null
}

export type MonthlyUsage = {
  hoursUsed: number
  serverSessions: number
  runningServers: number
  amountOwedDollars: number
}

/** A sentence, and the path of the page to do something about it. */
export type StartRefusal = {
  code: 'held' | 'suspended' | 'plan_unpaid' | 'no_plan' | 'budget'
  error: string
  page: string
}

export type Summary = {
  monthlyUsage: MonthlyUsage
  subscription: Subscription | null
  /** True while an invoice is overdue: no server can start. */
  suspended: boolean
  /** Why the account can't start a server now. A used-up trial and a live server also refuse, but show elsewhere. */
  start_refusal: StartRefusal | null
  /** Usage is counted up to this moment. */
  as_of: string
}

/** A month of usage, a payment of the plan, or a correction of a bill. */
export type BillKind = 'usage' | 'plan' | 'correction'

export type BillingRecord = {
  id: string
  kind: BillKind
  start_date: string
  end_date: string
  amount_owed: number
  seconds_used: number
  paid: boolean
  overdue: boolean
  transaction_id: string | null
  /** The plan's name, or that there was none. */
  plan: string
  due_date: string | null
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
  /** Its run; null if we know of none. */
  run_id: string | null
  /** The owner of its run. */
  owner_id: string | null
  owner_email: string | null
  /** What its run simulates; null like the owner. */
  environment: string | null
  vehicle: Vehicle | null
  /** Its run's cost so far at list price, before included hours; null like the owner. */
  cost_dollars: number | null
}

/** A message to sales, or a customer's request for more servers. */
export type MessageKind = 'sales' | 'help' | 'feedback'

export type Message = {
  id: string
  kind: MessageKind | 'more_servers'
  name: string
  email: string
  /** How the sender heard about us, or the topic they need help with. */
  source: string | null
  message: string | null
  created_at: string
}

/** What a program sends to act for its owner. The token itself is only in the answer that creates it. */
export type ApiToken = {
  id: string
  name: string
  scope: TokenScope
  created_at: string
  expires_at: string
  last_used_at: string | null
  last_address: string | null
}

/** Where a user's events go. */
export type Webhook = {
  id: string
  url: string
  events: EventType[]
  created_at: string
  /** `failing`: an event waits for another try. `off`: we switched it off. */
  status: 'on' | 'failing' | 'off'
  /** Null while it isn't off. `gone`: it answered 410. */
  off_because: 'failing' | 'gone' | null
  /** When it last accepted an event. */
  answered_at: string | null
}

/** A value for the account's own images, which nobody can read back. */
export type StoredSecret = { name: string; updated_at: string }

/** A login that pulls private images of this host. Nobody can read back its token. */
export type RegistryLogin = { host: string; username: string; updated_at: string }

/** One event for one webhook. */
export type Delivery = {
  /** The same for every webhook and every try. */
  event_id: string
  type: EventType | 'webhook.test'
  created_at: string
  attempts: number
  tried_at: string | null
  /** Null once accepted or given up. */
  next_try_at: string | null
  taken: boolean
  /** The HTTP status of the last answer; null without one. `answer` then says why. */
  status: number | null
  answer: string | null
  /** The body that we send. */
  payload: string
}

/** One browser where the user is signed in. */
export type SignIn = {
  id: string
  /** The one making this request. */
  current: boolean
  user_agent: string | null
  address: string | null
  created_at: string
  last_seen_at: string
}

/** Until when a guest may enter a run. */
export type GuestEnd = { run: string; until: string }

/** A link through a run's door, for hours that its owner chose. */
export type Guest = {
  id: string
  created_at: string
  expires_at: string
  /** When someone last came in with it. */
  last_used_at: string | null
  /** How many browsers came in with it. */
  uses: number
}

/** One page of a folder of someone's files. */
export type FileList = {
  path: string
  folders: { name: string }[]
  /** `unaddressable`: its path has a segment `.` or `..`, so no link can lead to it. */
  files: { name: string; size: number; modified_at: string; unaddressable?: true | undefined }[]
  /** Folders that are being deleted: nothing below them is listed. At least so many files are left. */
  deleting: { path: string; files_left: number }[]
  /** What `after` must be for the next page; null on the last. */
  next: string | null
  used_bytes: number
  /** Null: unlimited. */
  limit_bytes: number | null
  /** When we counted `used_bytes` in the bucket; null: the first count isn't over. */
  counted_at: string | null
}

/** Where to send a file: these headers, and as many bytes as were promised. */
export type FileUpload = {
  path: string
  url: string
  method: 'PUT'
  headers: Record<string, string>
  expires_at: string
}

/** What any S3 tool needs to use someone's files, and until when. */
export type FilesAccess = {
  access_key_id: string
  secret_access_key: string
  session_token: string
  expires_at: string
  endpoint: string
  region: string
  bucket: string
  /** Every key of theirs begins with it, and no other is allowed. */
  prefix: string
  mode: 'read' | 'write'
}

/** A file that travels in parts. `done` are those that the bucket has; parts count from 1. */
export type PartsUpload = {
  id: string
  path: string
  size: number
  /** The length of each part but the last. */
  part_size: number
  parts: number
  done: number[]
  expires_at: string
}

/** Where to send parts: these headers, and as many bytes as `size` says. */
export type PartLinks = {
  parts: { part: number; size: number; url: string; method: 'PUT'; headers: Record<string, string> }[]
  expires_at: string
}

/** An upload in parts that can continue with the same file. */
export type UnfinishedUpload = {
  id: string
  path: string
  size: number
  version: string
  created_at: string
  expires_at: string
}

/** What a folder has; not `complete`: at least. */
export type FolderSize = { path: string; files: number; bytes: number; complete: boolean }

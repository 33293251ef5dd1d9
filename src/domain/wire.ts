import * as z from 'zod/mini'
import type { TokenScope } from './api-token.ts'
import { REFUSALS, type RefusalCode } from './error.ts'
import type { PlanType } from './money/plan.ts'
import type { RunCostSum } from './money/run-cost.ts'
import { MAIL_KINDS, type MailKind, NOTICE_KINDS } from './notice.ts'
import { END_REASONS, JOB_ERROR_CODES, RUN_ERROR_CODES } from './run-end.ts'
import type { RunEventKind } from './run-event.ts'
import { LOG_SOURCES, type LogPart, PART_LINES } from './run-log.ts'
import { type Metrics, MOST_SAMPLES } from './run-metrics.ts'
import { EVENT_TYPES, type EventType } from './webhook.ts'

/**
 * What crosses the wire, spelled as clients know it. Times are ISO 8601 in UTC; `docs/api.md` describes every call. The
 * OpenAPI document is made of these shapes, and tests compare them with every answer. Browsers only get the types.
 */

const instant = z.iso.datetime()
const day = z.iso.date()
const planType = z.enum(['demo', 'basic', 'premium', 'enterprise']) satisfies z.ZodMiniType<PlanType>
const vehicle = z.enum(['uav', 'ugv', 'multi'])
export type Vehicle = z.infer<typeof vehicle>
const scope = z.enum(['read', 'operate']) satisfies z.ZodMiniType<TokenScope>

export const message = z.object({ message: z.string() })

export const user = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  admin: z.boolean(),
})
export type User = z.infer<typeof user>

export const logPart = z.object({
  lines: z
    .array(z.object({ n: z.int(), at: instant, source: z.enum(LOG_SOURCES), text: z.string() }))
    .check(z.maxLength(PART_LINES)),
  next: z.int(),
  complete: z.boolean(),
}) satisfies z.ZodMiniType<LogPart>

const figure = z.nullable(z.number())
export const metrics = z.object({
  every_seconds: z.int(),
  samples: z
    .array(
      z.object({
        at: instant,
        gpu_percent: figure,
        gpu_memory_bytes: figure,
        cpu_percent: figure,
        memory_bytes: figure,
        disk_bytes: figure,
        sent_bytes: figure,
        received_bytes: figure,
      }),
    )
    .check(z.maxLength(MOST_SAMPLES)),
}) satisfies z.ZodMiniType<Metrics>

/** A run: one row of the Sessions table. Live while `active` or `pending`; `stopping` once a stop is requested. */
export const server = z.object({
  id: z.string(),
  /** What its user calls it. */
  name: z.nullable(z.string()),
  server_id: z.string(),
  active: z.boolean(),
  pending: z.boolean(),
  stopping: z.boolean(),
  requested_at: instant,
  /** When its user wants it to end. */
  ends_at: z.nullable(instant),
  end_time: z.nullable(instant),
  startedAt: z.nullable(instant),
  /** When it first answered; everything before is free. */
  billed_from: z.nullable(instant),
  ip_address: z.nullable(z.string()),
  /** Its own private address: only its owner and their guests come in. Null without a door, and while nothing answers. */
  door_url: z.nullable(z.string()),
  instance_type: z.string(),
  /** Whether a machine that had booted waited for its start. */
  warm: z.boolean(),
  /** Where it runs; null for runs from before we kept it. */
  availability_zone: z.nullable(z.string()),
  /** Why it can only read its user's files: at its start they were full, or there was no plan. Null: it can write, or has none. */
  files_read_only: z.nullable(z.enum(['full', 'unpaid', 'ended', 'none', 'suspended', 'held'])),
  /** Whether at least 90 % of its disk is used. */
  disk_nearly_full: z.boolean(),
  /** What it simulates; null for runs from before people could choose. */
  environment: z.nullable(z.string()),
  vehicle: z.nullable(vehicle),
  /** The variables that its start gave its container. */
  parameters: z.record(z.string(), z.string()),
  /** `exit`: it ends with its program. Null: when its user stops it, or at its end. */
  until: z.nullable(z.literal('exit')),
  /** The words that start its program, in place of its image's own. */
  command: z.nullable(z.array(z.string())),
  /** What its program ended with, if the run ended or failed with it. */
  exit_code: z.nullable(z.int()),
  /**
   * What it added to its month's bill. Null while it is live, if it spans two months, and for runs from before we
   * kept it.
   */
  cost_dollars: z.nullable(z.number()),
  /** Null while it is live. `failure`: see `error_code` and `error_message`. */
  ended_because: z.nullable(z.enum(END_REASONS)),
  /** Why it failed; null if it didn't. */
  error_code: z.nullable(z.enum(RUN_ERROR_CODES)),
  error_message: z.nullable(z.string()),
})
export type Server = z.infer<typeof server>

/** What a person finds under the bell. `link` is a path of ours, or an invoice at Stripe. */
export const notice = z.object({
  id: z.string(),
  kind: z.enum(NOTICE_KINDS),
  at: instant,
  title: z.string(),
  text: z.string(),
  link: z.nullable(z.string()),
  label: z.nullable(z.string()),
  read: z.boolean(),
})
export type Notice = z.infer<typeof notice>

export const mails = z.object(
  Object.fromEntries(Object.keys(MAIL_KINDS).map((kind) => [kind, z.boolean()])) as Record<MailKind, z.ZodMiniBoolean>,
)

/** What happened to a run, as its page and the API name it. */
const runEventName = z.enum([
  'requested',
  'place_refused',
  'launched',
  'booting',
  'running',
  'answered',
  'program_started',
  'exited',
  ...(['end_set', 'end_moved', 'end_removed', 'renamed', 'warned'] satisfies RunEventKind[]),
  'stopped',
  'failed',
  'meter_ended',
  'machine_ended',
  'gone',
])
export type RunEventName = z.infer<typeof runEventName>

/** `detail` is a sentence to show, where there's more to say. */
const runEvent = z.object({ at: instant, what: runEventName, detail: z.nullable(z.string()) })
export type RunEvent = z.infer<typeof runEvent>

/** EC2's own record of a machine that has ended. `reason` in its words. */
const providerRecord = z.object({
  launched_at: instant,
  ended_at: z.nullable(instant),
  reason: z.nullable(z.string()),
})
export type ProviderRecord = z.infer<typeof providerRecord>

/** In whole seconds: half took at most `p50`, nine in ten at most `p90`. Null: we don't know yet. */
const estimate = z.nullable(z.object({ p50: z.int(), p90: z.int() }))

/** Someone's place in line. `position`: 1 is next, 0 once a place is theirs. `held_until`: when it goes to the next. */
export const linePlace = z.object({
  /** GPUs of the machine that they wait for. */
  size: z.int(),
  position: z.int(),
  /** From now. */
  estimate_seconds: estimate,
  held_until: z.nullable(instant),
  starts_by_itself: z.boolean(),
})
export type LinePlace = z.infer<typeof linePlace>

export const run = z.object({
  server,
  events: z.array(runEvent),
  cost: z.object({
    seconds: z.int(),
    included_seconds: z.int(),
    billed_seconds: z.int(),
    dollars: z.number(),
  }) satisfies z.ZodMiniType<RunCostSum>,
  provider: z.nullable(providerRecord),
})

export const job = z.object({
  id: z.string(),
  kind: z.enum(['server_start', 'server_stop']),
  status: z.enum(['queued', 'running', 'succeeded', 'failed']),
  /** What it is doing, while it runs. */
  progress: z.nullable(z.string()),
  /** A sentence to show once it has succeeded. */
  result: z.nullable(z.string()),
  error_message: z.nullable(z.string()),
  error_code: z.nullable(z.enum(JOB_ERROR_CODES)),
  server: z.nullable(server),
  created_at: instant,
  updated_at: instant,
})
export type Job = z.infer<typeof job>
export type JobKind = Job['kind']
export type JobStatus = Job['status']

const machine = z.object({
  instance_type: z.string(),
  availability_zone: z.string(),
  /** Whether a machine waits there that has booted, so that a start is ready soon. */
  warm: z.boolean(),
})
export type Machine = z.infer<typeof machine>

export const availability = z.object({
  ServerAvailable: z.boolean(),
  /** How long a start usually takes until the server is ready, from those of the last 30 days. */
  ready_in_seconds: estimate,
  candidates: z.array(
    z.extend(machine, { server_id: z.string(), available: z.boolean(), reason: z.nullable(z.string()) }),
  ),
})
export type Availability = z.infer<typeof availability>

/** A place to fly or drive in; `available`: the caller's plan includes it. */
const environment = z.object({
  name: z.string(),
  description: z.string(),
  plans: z.array(planType),
  available: z.boolean(),
})
export type Environment = z.infer<typeof environment>

/** What a server can simulate. */
export const worlds = z.object({
  environments: z.array(environment),
  vehicles: z.array(z.object({ name: vehicle, plans: z.array(planType), available: z.boolean() })),
})
export type Worlds = z.infer<typeof worlds>

const size = z.number()

/** One page of a folder of someone's files. */
export const fileList = z.object({
  path: z.string(),
  folders: z.array(z.object({ name: z.string() })),
  /** `unaddressable`: its path has a segment `.` or `..`, so no link can lead to it. */
  files: z.array(
    z.object({ name: z.string(), size, modified_at: instant, unaddressable: z.optional(z.literal(true)) }),
  ),
  /** Folders that are being deleted: nothing below them is listed. At least so many files are left. */
  deleting: z.array(z.object({ path: z.string(), files_left: z.int() })),
  /** What `after` must be for the next page; null on the last. */
  next: z.nullable(z.string()),
  /** Which servers have them at /data: `until_exit` are those that end with their program. */
  on_servers: z.enum(['all', 'until_exit', 'none']),
  used_bytes: size,
  /** Null: unlimited. */
  limit_bytes: z.nullable(size),
  /** When we counted `used_bytes` in the bucket; null: the first count isn't over. */
  counted_at: z.nullable(instant),
})
export type FileList = z.infer<typeof fileList>

/** Where to send a file: these headers, and as many bytes as were promised. */
export const fileUpload = z.object({
  path: z.string(),
  url: z.string(),
  method: z.literal('PUT'),
  headers: z.record(z.string(), z.string()),
  expires_at: instant,
})
export type FileUpload = z.infer<typeof fileUpload>

/** A file that travels in parts. `done` are those that the bucket has; parts count from 1. */
export const partsUpload = z.object({
  id: z.string(),
  path: z.string(),
  size,
  /** The length of each part but the last. */
  part_size: size,
  parts: z.int(),
  done: z.array(z.int()),
  expires_at: instant,
})
export type PartsUpload = z.infer<typeof partsUpload>

/** Where to send parts: these headers, and as many bytes as `size` says. */
export const partLinks = z.object({
  parts: z.array(
    z.object({
      part: z.int(),
      size,
      url: z.string(),
      method: z.literal('PUT'),
      headers: z.record(z.string(), z.string()),
    }),
  ),
  expires_at: instant,
})
export type PartLinks = z.infer<typeof partLinks>

/** An upload in parts that can continue with the same file. */
export const unfinishedUpload = z.object({
  id: z.string(),
  path: z.string(),
  size,
  version: z.string(),
  created_at: instant,
  expires_at: instant,
})
export type UnfinishedUpload = z.infer<typeof unfinishedUpload>

/** What any S3 tool needs to use someone's files, and until when. */
export const filesAccess = z.object({
  access_key_id: z.string(),
  secret_access_key: z.string(),
  session_token: z.string(),
  expires_at: instant,
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string(),
  /** Every key of theirs begins with it, and no other is allowed. */
  prefix: z.string(),
  mode: z.enum(['read', 'write']),
})
export type FilesAccess = z.infer<typeof filesAccess>

/** What a folder has; not `complete`: at least. */
export const folderSize = z.object({
  path: z.string(),
  files: z.int(),
  bytes: size,
  complete: z.boolean(),
})
export type FolderSize = z.infer<typeof folderSize>

/** Build Your Own: a container image that the account brings. */
export const ownEnvironment = z.object({
  name: z.string(),
  image: z.string(),
  /** Null if its tag decides at each start which image runs. */
  digest: z.nullable(z.string()),
  created_at: instant,
})
export type OwnEnvironment = z.infer<typeof ownEnvironment>

export const subscription = z.object({
  plan_type: planType,
  status: z.string(),
  current_period_start: instant,
  /** Null for a demo: it has no cycle and ends when its minutes are used up. */
  current_period_end: z.nullable(instant),
  hours: z.number(),
  sub_type: z.enum(['demo', 'paid']),
  cancel_at_period_end: z.boolean(),
  /** The plan of the next period and its hours; null if there is none. */
  next_plan_type: z.nullable(planType),
  next_hours: z.nullable(z.number()),
})
export type Subscription = z.infer<typeof subscription>

const monthlyUsage = z.object({
  hoursUsed: z.number(),
  serverSessions: z.int(),
  runningServers: z.int(),
  amountOwedDollars: z.number(),
})
export type MonthlyUsage = z.infer<typeof monthlyUsage>

/** A sentence, and the path of the page to do something about it. */
const startRefusal = z.object({
  code: z.enum(['held', 'suspended', 'plan_unpaid', 'no_plan', 'budget']),
  error: z.string(),
  page: z.string(),
})
export type StartRefusal = z.infer<typeof startRefusal>

export const summary = z.object({
  monthlyUsage,
  subscription: z.nullable(subscription),
  /** True while an invoice is overdue: no server can start. */
  suspended: z.boolean(),
  /** Why the account can't start a server now. A used-up trial and a live server also refuse, but show elsewhere. */
  start_refusal: z.nullable(startRefusal),
  /** Usage is counted up to this moment. */
  as_of: instant,
})
export type Summary = z.infer<typeof summary>

export const billing = z.object({
  id: z.string(),
  /** A month of usage, a payment of the plan, or a correction of a bill. */
  kind: z.enum(['usage', 'plan', 'correction']),
  start_date: day,
  end_date: day,
  amount_owed: z.number(),
  seconds_used: z.int(),
  paid: z.boolean(),
  overdue: z.boolean(),
  transaction_id: z.nullable(z.string()),
  /** The plan's name, or that there was none. */
  plan: z.string(),
  due_date: z.nullable(day),
  /** Stripe's, on its invoice. */
  invoice_number: z.nullable(z.string()),
  /** What the customer got back of the payment by refunds, in dollars. */
  amount_refunded: z.number(),
  /** What became of the payment at their bank; null if they never disputed it. Who wins keeps the money. */
  dispute: z.nullable(z.enum(['open', 'won', 'lost'])),
})
export type BillingRecord = z.infer<typeof billing>
export type BillKind = BillingRecord['kind']

export const budget = z.nullable(z.object({ dollars: z.int(), stops: z.boolean() }))

export const instance = z.object({
  instance_id: z.string(),
  name: z.nullable(z.string()),
  instance_type: z.string(),
  state: z.string(),
  status_check: z.nullable(z.string()),
  private_ip: z.nullable(z.string()),
  public_ip: z.nullable(z.string()),
  launch_time: z.nullable(instant),
  /** Its run; null if we know of none. */
  run_id: z.nullable(z.string()),
  /** The owner of its run. */
  owner_id: z.nullable(z.string()),
  owner_email: z.nullable(z.string()),
  /** What its run simulates; null like the owner. */
  environment: z.nullable(z.string()),
  vehicle: z.nullable(vehicle),
  /** Its run's cost so far at list price, before included hours; null like the owner. */
  cost_dollars: z.nullable(z.number()),
})
export type Instance = z.infer<typeof instance>

/** One browser where the user is signed in. */
export const signIn = z.object({
  id: z.string(),
  /** The one making this request. */
  current: z.boolean(),
  user_agent: z.nullable(z.string()),
  address: z.nullable(z.string()),
  created_at: instant,
  last_seen_at: instant,
})
export type SignIn = z.infer<typeof signIn>

/** What a program sends to act for its owner. The token itself is only in the answer that creates it. */
export const apiToken = z.object({
  id: z.string(),
  name: z.string(),
  scope,
  created_at: instant,
  expires_at: instant,
  last_used_at: z.nullable(instant),
  last_address: z.nullable(z.string()),
})
export type ApiToken = z.infer<typeof apiToken>

/** A value for the account's own images, which nobody can read back. */
export const storedSecret = z.object({
  name: z.string(),
  updated_at: instant,
})
export type StoredSecret = z.infer<typeof storedSecret>

export const recoveryCodes = z.object({ recovery_codes: z.array(z.string()) })

export const passkey = z.object({
  id: z.string(),
  name: z.string(),
  added_at: instant,
  last_used_at: z.nullable(instant),
})
export type Passkey = z.infer<typeof passkey>

/** A login that pulls private images of this host. Nobody can read back its token. */
export const registryLogin = z.object({
  host: z.string(),
  username: z.string(),
  updated_at: instant,
})
export type RegistryLogin = z.infer<typeof registryLogin>

/** Where a user's events go. */
export const webhook = z.object({
  id: z.string(),
  url: z.url(),
  events: z.array(z.enum(EVENT_TYPES)),
  created_at: instant,
  /** `failing`: an event waits for another try. `off`: we switched it off. */
  status: z.enum(['on', 'failing', 'off']),
  /** Null while it isn't off. `gone`: it answered 410. */
  off_because: z.nullable(z.enum(['failing', 'gone'])),
  /** When it last accepted an event. */
  answered_at: z.nullable(instant),
})
export type Webhook = z.infer<typeof webhook>

const records = z.array(z.looseObject({}))

/** Everything we keep about a person. The rows are for people to read, so they may change. */
export const personalData = z.object({
  exported_at: instant,
  user: z.looseObject({ id: z.string(), name: z.string(), email: z.string() }),
  sign_ins: records,
  activity: records,
  second_factors: z.looseObject({}),
  api_tokens: records,
  webhooks: records,
  environments: records,
  files: records,
  line_groups: records,
  file_removals: records,
  logs: records,
  webhook_deliveries: records,
  subscriptions: records,
  checkouts: records,
  billings: z.array(billing),
  servers: z.array(server),
  server_events: records,
  line: records,
  jobs: z.array(job),
  server_requests: records,
  notices: records,
  mails: records,
  contact_messages: records,
})

/** Every refusal. */
export const refusal = z.looseObject({
  code: z.enum(Object.keys(REFUSALS) as RefusalCode[]),
  error: z.string(),
  message: z.string(),
  errors: z.array(z.string()),
  page: z.optional(z.string()),
})

/** A link through a run's door, for hours that its owner chose. */
export const guest = z.object({
  id: z.string(),
  created_at: instant,
  expires_at: instant,
  /** When someone last came in with it. */
  last_used_at: z.nullable(instant),
  /** How many browsers came in with it. */
  uses: z.number(),
})
export type Guest = z.infer<typeof guest>

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

/** Until when a guest may enter a run. */
export type GuestEnd = { run: string; until: string }

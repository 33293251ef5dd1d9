import * as z from 'zod/mini'
import type { TokenScope } from './api-token.ts'
import { REFUSALS, type RefusalCode } from './error.ts'
import type { PlanType } from './money/plan.ts'
import type { RunCostSum } from './money/run-cost.ts'
import { MAIL_KINDS, type MailKind, NOTICE_KINDS } from './notice.ts'
import { END_REASONS, JOB_ERROR_CODES, RUN_ERROR_CODES } from './run-end.ts'
import { LOG_SOURCES, type LogPart, PART_LINES } from './run-log.ts'
import { type Metrics, MOST_SAMPLES } from './run-metrics.ts'
import { EVENT_TITLES } from './run-timeline.ts'
import { EVENT_TYPES } from './webhook.ts'
import type * as wire from './wire.ts'

/** The shapes of the answers. The types in wire.ts say that they are right; a test compares them with real answers. */

const instant = z.iso.datetime()
const day = z.iso.date()
const planType = z.enum(['demo', 'basic', 'premium', 'enterprise']) satisfies z.ZodMiniType<PlanType>
const vehicle = z.enum(['uav', 'ugv', 'multi']) satisfies z.ZodMiniType<wire.Vehicle>
const scope = z.enum(['read', 'operate']) satisfies z.ZodMiniType<TokenScope>

export const message = z.object({ message: z.string() })

export const user = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  admin: z.boolean(),
}) satisfies z.ZodMiniType<wire.User>

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

export const server = z.object({
  id: z.string(),
  name: z.nullable(z.string()),
  server_id: z.string(),
  active: z.boolean(),
  pending: z.boolean(),
  stopping: z.boolean(),
  requested_at: instant,
  ends_at: z.nullable(instant),
  end_time: z.nullable(instant),
  startedAt: z.nullable(instant),
  billed_from: z.nullable(instant),
  ip_address: z.nullable(z.string()),
  door_url: z.nullable(z.string()),
  instance_type: z.string(),
  availability_zone: z.nullable(z.string()),
  files_read_only: z.nullable(z.enum(['full', 'ended', 'none'])),
  disk_nearly_full: z.boolean(),
  environment: z.nullable(z.string()),
  vehicle: z.nullable(vehicle),
  parameters: z.record(z.string(), z.string()),
  until: z.nullable(z.literal('exit')),
  command: z.nullable(z.array(z.string())),
  exit_code: z.nullable(z.int()),
  cost_dollars: z.nullable(z.number()),
  ended_because: z.nullable(z.enum(END_REASONS)),
  error_code: z.nullable(z.enum(RUN_ERROR_CODES)),
  error_message: z.nullable(z.string()),
}) satisfies z.ZodMiniType<wire.Server>

export const notice = z.object({
  id: z.string(),
  kind: z.enum(NOTICE_KINDS),
  at: instant,
  title: z.string(),
  text: z.string(),
  link: z.nullable(z.string()),
  label: z.nullable(z.string()),
  read: z.boolean(),
}) satisfies z.ZodMiniType<wire.Notice>

export const mails = z.object(
  Object.fromEntries(Object.keys(MAIL_KINDS).map((kind) => [kind, z.boolean()])) as Record<MailKind, z.ZodMiniBoolean>,
)

const eventNames = Object.keys(EVENT_TITLES) as wire.RunEventName[]

export const linePlace = z.object({
  size: z.int(),
  position: z.int(),
  estimate_seconds: z.nullable(z.object({ p50: z.int(), p90: z.int() })),
  held_until: z.nullable(instant),
  starts_by_itself: z.boolean(),
}) satisfies z.ZodMiniType<wire.LinePlace>

export const run = z.object({
  server,
  events: z.array(
    z.object({ at: instant, what: z.enum(eventNames), detail: z.nullable(z.string()) }),
  ) satisfies z.ZodMiniType<wire.RunEvent[]>,
  cost: z.object({
    seconds: z.int(),
    included_seconds: z.int(),
    billed_seconds: z.int(),
    dollars: z.number(),
  }) satisfies z.ZodMiniType<RunCostSum>,
  provider: z.nullable(
    z.object({ launched_at: instant, ended_at: z.nullable(instant), reason: z.nullable(z.string()) }),
  ) satisfies z.ZodMiniType<wire.ProviderRecord | null>,
})

export const job = z.object({
  id: z.string(),
  kind: z.enum(['server_start', 'server_stop']),
  status: z.enum(['queued', 'running', 'succeeded', 'failed']),
  progress: z.nullable(z.string()),
  result: z.nullable(z.string()),
  error_message: z.nullable(z.string()),
  error_code: z.nullable(z.enum(JOB_ERROR_CODES)),
  server: z.nullable(server),
  created_at: instant,
  updated_at: instant,
}) satisfies z.ZodMiniType<wire.Job>

export const availability = z.object({
  ServerAvailable: z.boolean(),
  candidates: z.array(
    z.object({
      instance_type: z.string(),
      availability_zone: z.string(),
      server_id: z.string(),
      available: z.boolean(),
      reason: z.nullable(z.string()),
    }),
  ),
}) satisfies z.ZodMiniType<wire.Availability>

export const worlds = z.object({
  environments: z.array(
    z.object({ name: z.string(), description: z.string(), plans: z.array(planType), available: z.boolean() }),
  ),
  vehicles: z.array(z.object({ name: vehicle, plans: z.array(planType), available: z.boolean() })),
}) satisfies z.ZodMiniType<wire.Worlds>

const size = z.number()

export const fileList = z.object({
  path: z.string(),
  folders: z.array(z.object({ name: z.string() })),
  files: z.array(
    z.object({ name: z.string(), size, modified_at: instant, unaddressable: z.optional(z.literal(true)) }),
  ),
  deleting: z.array(z.object({ path: z.string(), files_left: z.int() })),
  next: z.nullable(z.string()),
  used_bytes: size,
  limit_bytes: z.nullable(size),
  counted_at: z.nullable(instant),
}) satisfies z.ZodMiniType<wire.FileList>

export const fileUpload = z.object({
  path: z.string(),
  url: z.string(),
  method: z.literal('PUT'),
  headers: z.record(z.string(), z.string()),
  expires_at: instant,
}) satisfies z.ZodMiniType<wire.FileUpload>

export const partsUpload = z.object({
  id: z.string(),
  path: z.string(),
  size,
  part_size: size,
  parts: z.int(),
  done: z.array(z.int()),
  expires_at: instant,
}) satisfies z.ZodMiniType<wire.PartsUpload>

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
}) satisfies z.ZodMiniType<wire.PartLinks>

export const unfinishedUpload = z.object({
  id: z.string(),
  path: z.string(),
  size,
  version: z.string(),
  created_at: instant,
  expires_at: instant,
}) satisfies z.ZodMiniType<wire.UnfinishedUpload>

export const filesAccess = z.object({
  access_key_id: z.string(),
  secret_access_key: z.string(),
  session_token: z.string(),
  expires_at: instant,
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string(),
  prefix: z.string(),
  mode: z.enum(['read', 'write']),
}) satisfies z.ZodMiniType<wire.FilesAccess>

export const folderSize = z.object({
  path: z.string(),
  files: z.int(),
  bytes: size,
  complete: z.boolean(),
}) satisfies z.ZodMiniType<wire.FolderSize>

export const ownEnvironment = z.object({
  name: z.string(),
  image: z.string(),
  digest: z.nullable(z.string()),
  created_at: instant,
}) satisfies z.ZodMiniType<wire.OwnEnvironment>

export const subscription = z.object({
  plan_type: planType,
  status: z.string(),
  current_period_start: instant,
  current_period_end: z.nullable(instant),
  hours: z.number(),
  sub_type: z.enum(['demo', 'paid']),
  cancel_at_period_end: z.boolean(),
  next_plan_type: z.nullable(planType),
  next_hours: z.nullable(z.number()),
}) satisfies z.ZodMiniType<wire.Subscription>

export const summary = z.object({
  monthlyUsage: z.object({
    hoursUsed: z.number(),
    serverSessions: z.int(),
    runningServers: z.int(),
    amountOwedDollars: z.number(),
  }),
  subscription: z.nullable(subscription),
  suspended: z.boolean(),
  start_refusal: z.nullable(
    z.object({
      code: z.enum(['held', 'suspended', 'plan_unpaid', 'no_plan', 'budget']),
      error: z.string(),
      page: z.string(),
    }),
  ),
  as_of: instant,
}) satisfies z.ZodMiniType<wire.Summary>

export const billing = z.object({
  id: z.string(),
  kind: z.enum(['usage', 'plan', 'correction']),
  start_date: day,
  end_date: day,
  amount_owed: z.number(),
  seconds_used: z.int(),
  paid: z.boolean(),
  overdue: z.boolean(),
  transaction_id: z.nullable(z.string()),
  plan: z.string(),
  due_date: z.nullable(day),
}) satisfies z.ZodMiniType<wire.BillingRecord>

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
  run_id: z.nullable(z.string()),
  owner_id: z.nullable(z.string()),
  owner_email: z.nullable(z.string()),
  environment: z.nullable(z.string()),
  vehicle: z.nullable(vehicle),
  cost_dollars: z.nullable(z.number()),
}) satisfies z.ZodMiniType<wire.Instance>

export const signIn = z.object({
  id: z.string(),
  current: z.boolean(),
  user_agent: z.nullable(z.string()),
  address: z.nullable(z.string()),
  created_at: instant,
  last_seen_at: instant,
}) satisfies z.ZodMiniType<wire.SignIn>

export const apiToken = z.object({
  id: z.string(),
  name: z.string(),
  scope,
  created_at: instant,
  expires_at: instant,
  last_used_at: z.nullable(instant),
  last_address: z.nullable(z.string()),
}) satisfies z.ZodMiniType<wire.ApiToken>

export const storedSecret = z.object({
  name: z.string(),
  updated_at: instant,
}) satisfies z.ZodMiniType<wire.StoredSecret>

export const registryLogin = z.object({
  host: z.string(),
  username: z.string(),
  updated_at: instant,
}) satisfies z.ZodMiniType<wire.RegistryLogin>

export const webhook = z.object({
  id: z.string(),
  url: z.url(),
  events: z.array(z.enum(EVENT_TYPES)),
  created_at: instant,
  status: z.enum(['on', 'failing', 'off']),
  off_because: z.nullable(z.enum(['failing', 'gone'])),
  answered_at: z.nullable(instant),
}) satisfies z.ZodMiniType<wire.Webhook>

const records = z.array(z.looseObject({}))

/** Everything we keep about a person. The rows are for people to read, so they may change. */
export const personalData = z.object({
  exported_at: instant,
  user: z.looseObject({ id: z.string(), name: z.string(), email: z.string() }),
  sign_ins: records,
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

export const guest = z.object({
  id: z.string(),
  created_at: instant,
  expires_at: instant,
  last_used_at: z.nullable(instant),
  uses: z.number(),
}) satisfies z.ZodMiniType<wire.Guest>

import * as z from 'zod/mini'
import type { RunCostSum } from '../money/run-cost.ts'
import { END_REASONS, JOB_ERROR_CODES, RUN_ERROR_CODES } from '../run-end.ts'
import type { RunEventKind } from '../run-event.ts'
import { LOG_SOURCES, type LogPart, PART_LINES } from '../run-log.ts'
import { type Metrics, MOST_SAMPLES } from '../run-metrics.ts'
import { instant, planType, vehicle } from './fields.ts'

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

/** Build Your Own: a container image that the account brings. */
export const ownEnvironment = z.object({
  name: z.string(),
  image: z.string(),
  /** Null if its tag decides at each start which image runs. */
  digest: z.nullable(z.string()),
  created_at: instant,
})
export type OwnEnvironment = z.infer<typeof ownEnvironment>

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

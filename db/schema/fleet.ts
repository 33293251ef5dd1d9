import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { FilesReadOnly } from '../../src/domain/files.ts'
import type { Pull } from '../../src/domain/image-pull.ts'
import type { PlanType } from '../../src/domain/money/plan.ts'
import type { RunParameters } from '../../src/domain/parameters.ts'
import type { Death, EndReason, JobErrorCode, RunErrorCode } from '../../src/domain/run-end.ts'
import type { RunActor, RunEventKind } from '../../src/domain/run-event.ts'
import type { Vehicle } from '../../src/domain/wire/fields.ts'
import type { JobKind, JobStatus } from '../../src/domain/wire/fleet.ts'
import { userId, users } from './accounts.ts'

/**
 * A start or stop that a client may repeat: the same Idempotency-Key gets the same answer. Written in the
 * batch that does it.
 */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    userId: userId(),
    key: text().notNull(),
    /** The SHA-256 of the route and the body. */
    digest: text().notNull(),
    jobId: text('job_id')
      .notNull()
      .references(() => jobs.id),
    /** The JSON that we answered; null until the first answer. */
    answer: text(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.key] }), index('idempotency_keys_by_job').on(t.jobId)],
)

/** A place in the fleet: free, or reserved by one run. */
export const places = sqliteTable(
  'servers',
  {
    id: text().primaryKey(),
    instanceType: text('instance_type').notNull(),
    availabilityZone: text('availability_zone').notNull(),
    /** The launch template with its zone's subnet; null: the zone's own, or EC2_LAUNCH_TEMPLATE. */
    launchTemplate: text('launch_template'),
    /** How many NVIDIA L4s the type has. A plan limits this number. */
    gpus: integer().notNull().default(1),
    /** Among places of the same size, we hand out the lowest first. */
    position: integer().notNull(),
    reservedBy: text('reserved_by').unique(),
    reservedAt: integer('reserved_at'),
    /** Not handed out before this time, because its zone or subnet refused a launch. */
    setAsideUntil: integer('set_aside_until').notNull().default(0),
    /** Never handed out again. The row stays because past runs refer to it. */
    retiredAt: integer('retired_at'),
  },
  (t) => [
    /** The order in which we reserve them. */
    index('servers_in_order').on(sql`gpus DESC`, t.position).where(sql`retired_at IS NULL`),
    index('servers_free').on(sql`gpus DESC`, t.position).where(sql`+reserved_by IS NULL AND retired_at IS NULL`),
  ],
)
export type PlaceRow = typeof places.$inferSelect

/** What a server can simulate: the operator's catalog, and the images that accounts bring. */
export const environments = sqliteTable(
  'environments',
  {
    id: text().primaryKey(),
    /** Unique in the catalog, and in an account. Travels to the machine: `isEnvironmentName`. */
    name: text().notNull(),
    /** One sentence. */
    description: text().notNull(),
    /** A container image, or `:tag` for a tag of the machine's own; null: the machine's own as it is. */
    image: text(),
    /** The plans that include it. */
    plans: text({ mode: 'json' }).$type<PlanType[]>().notNull(),
    /** Whose it is; null: everyone's. */
    userId: text('user_id').references(() => users.id),
    /** The lowest first. */
    position: integer().notNull(),
    createdAt: integer('created_at').notNull(),
    /** Starts nothing new from then on. Running servers keep running. */
    retiredAt: integer('retired_at'),
  },
  (t) => [
    index('environments_by_user').on(t.userId),
    uniqueIndex('one_environment_per_name')
      // Not coalesce: drizzle-kit splits an expression at its commas.
      .on(sql`(CASE WHEN user_id IS NULL THEN '' ELSE user_id END)`, sql`lower(name)`)
      .where(sql`retired_at IS NULL`),
  ],
)
export type EnvironmentRow = typeof environments.$inferSelect

/** A run, from the request to the end of its instance. */
export const runs = sqliteTable(
  'server_sessions',
  {
    id: text().primaryKey(),
    userId: userId(),
    placeId: text('server_id')
      .notNull()
      .references(() => places.id),
    instanceType: text('instance_type').notNull(),
    /** Its place's zone. Null for runs from before we kept it. */
    availabilityZone: text('availability_zone'),
    /** Its environment's name and image, as they were at the start. Null for runs from before people could choose. */
    environment: text(),
    image: text(),
    vehicle: text().$type<Vehicle>(),
    /** What its user calls it. */
    name: text(),
    /** When its user wants it to end. */
    endsAt: integer('ends_at'),
    /** After how many seconds its start was supposed to end it: the dashboard may offer the same again. Null: no end. */
    stopAfter: integer('stop_after'),
    /** Whether an API token started it, so that nobody chose its end on the site. */
    byToken: integer('by_token', { mode: 'boolean' }).notNull().default(false),
    /** Whether their plan was a trial at the request: its form asks for no end. */
    inTrial: integer('in_trial', { mode: 'boolean' }).notNull().default(false),
    /** The end that we set when they bought a plan. While `endsAt` equals it, they haven't chosen another. */
    defaultEndsAt: integer('default_ends_at'),
    /** When `endsAt` was last set, if that was after the request: an end that is near when it's set needs no warning. */
    endsSetAt: integer('ends_set_at'),
    /** It ends with its program, which `command` starts in place of its image's CMD. */
    untilExit: integer('until_exit', { mode: 'boolean' }).notNull().default(false),
    command: text({ mode: 'json' }).$type<string[]>(),
    /** When its program ended, by its machine's word and what we heard before, if the run ends with it. */
    exitedAt: integer('exited_at'),
    /** The most GPUs its user wants; null: as many as their plan includes. */
    maxGpus: integer('max_gpus'),
    /** A smaller plan set `endsAt`, in place of the end that its user had set. `src/domain/money/plan-end.ts` */
    planEnds: integer('plan_ends', { mode: 'boolean' }).notNull().default(false),
    ownEndsAt: integer('own_ends_at'),
    /** Its simulator reports that nobody is using it, and that set `endsAt`, in place of `ownEndsAt`. */
    idleEnds: integer('idle_ends', { mode: 'boolean' }).notNull().default(false),
    /** When to next ask its simulator whether anyone is using it; null: its owner doesn't want that. */
    idleLookAt: integer('idle_look_at'),
    /** Their budget, if that set `endsAt`. */
    budgetCents: integer('budget_cents'),
    requestedAt: integer('requested_at').notNull(),
    /** First seen `running`: uptime starts here. */
    runningAt: integer('running_at'),
    /** First answered on its port: the meter starts here. */
    billedFrom: integer('billed_from'),
    /** Last seen `running`. */
    confirmedAt: integer('confirmed_at'),
    /** Since when the cloud hasn't found its instance, and after how many looks in a row. */
    unseenSince: integer('unseen_since'),
    unseenLooks: integer('unseen_looks').notNull().default(0),
    /** When we must stop the run: the end of a trial. */
    mustStopAt: integer('must_stop_at'),
    /** When we warned that it ends in a few minutes, because of its trial or `endsAt`. */
    trialWarnedAt: integer('trial_warned_at'),
    /** The end that we warned of: once for each end. */
    warnedEnd: integer('warned_end'),
    /** When we accepted its end: we bill nothing from then on. */
    stopRequestedAt: integer('stop_requested_at'),
    /** The meter's end. At most stopRequestedAt; earlier for an instance that vanished. */
    meteredUntil: integer('metered_until'),
    /** When its last instance was gone and its place free. */
    endedAt: integer('ended_at'),
    /**
     * What it added to its month's bill, in units of 1e-7 USD, counted when it ended. Null while it is live, if it
     * spans two months, and for runs from before we kept it.
     */
    costUnits: integer('cost_units'),
    instanceId: text('instance_id'),
    ipAddress: text('ip_address'),
    /** Inside our network, where only the door reaches it. */
    privateAddress: text('private_address'),
    /** The name of its own host on the door's domain: random, new for each run, not secret. Null without a door. */
    doorLabel: text('door_label').unique(),
    /** What its machine last said about its user's files. Null: nothing yet, or it has none. */
    filesPhase: text('files_phase').$type<'loading' | 'loaded' | 'failed' | 'saved'>(),
    /** Whether it may change them, decided when its machine first asked. */
    filesMode: text('files_mode').$type<'read' | 'write'>(),
    /** Why it may only read them. */
    filesReadOnly: text('files_read_only').$type<FilesReadOnly>(),
    /** Why it ends, written with its end. Null if the version before us ended it while this column was added. */
    endedBecause: text('ended_because').$type<EndReason>(),
    errorCode: text('error_code').$type<RunErrorCode>(),
    errorMessage: text('error_message'),
    /** The variables that its start gives its container. Null: none. */
    parameters: text({ mode: 'json' }).$type<RunParameters>(),
    /** The names of the secrets that its container gets. Null: none. */
    secrets: text({ mode: 'json' }).$type<string[]>(),
    /** The host whose login its image is pulled with. Null: none. */
    registry: text(),
    /** How far its machine is with its image, as it reports. Null: not there yet, or it doesn't report. */
    pull: text({ mode: 'json' }).$type<Pull>(),
    /** When its container first started, as its machine reports. Null: not yet, or it doesn't report. */
    containerStartedAt: integer('container_started_at'),
    /** The code that its program last exited with. */
    exitCode: integer('exit_code'),
    /** What its program died of before it answered, as its machine reports. */
    diedOf: text('died_of').$type<Death>(),
    /** Whether its disk is nearly full, as its machine reports. */
    diskNearlyFull: integer('disk_nearly_full', { mode: 'boolean' }).notNull().default(false),
    /** When to check how much of the plan's hours is used; null once it has ended and we checked. */
    hoursLookAt: integer('hours_look_at'),
    /** Whole seconds that we metered although EC2's record says that its machine wasn't running. Nobody pays for them. */
    shortSeconds: integer('short_seconds').notNull().default(0),
    /** How many of them are on written bills, which corrections credit. The others came off the meter. */
    creditSeconds: integer('credit_seconds').notNull().default(0),
    /** When to write these corrections; null if none are left to write. */
    creditAt: integer('credit_at'),
    /** Whole seconds from its meter's end to EC2's, below 0 if EC2's came first. Null if EC2 gave no time. */
    ec2Difference: integer('ec2_difference'),
    /** Its start took a machine that was waiting for one: `warmMachines`. */
    warm: integer({ mode: 'boolean' }).notNull().default(false),
    /** When that machine could learn of it. Until then, it runs nothing of this run's. */
    workGivenAt: integer('work_given_at'),
    /** When they clicked, a ready machine was waiting: what we told its user, whatever happened afterward. */
    toldWarm: integer('told_warm', { mode: 'boolean' }).notNull().default(false),
  },
  (t) => [
    index('server_sessions_to_credit').on(t.creditAt).where(sql`credit_at IS NOT NULL`),
    index('server_sessions_differing').on(t.endedAt).where(sql`(abs(ec2_difference) > 60 OR short_seconds > 60)`),
    index('server_sessions_hours').on(t.hoursLookAt).where(sql`hours_look_at IS NOT NULL`),
    uniqueIndex('one_live_session_per_user').on(t.userId).where(sql`ended_at IS NULL`),
    index('server_sessions_by_user').on(t.userId, t.requestedAt),
    index('server_sessions_by_meter').on(t.userId, t.meteredUntil),
    /** The latest starts of a kind. */
    index('server_sessions_by_kind').on(t.environment, t.instanceType, t.requestedAt),
    index('server_sessions_by_instance').on(t.instanceId),
    index('server_sessions_by_private_address').on(t.privateAddress).where(sql`ended_at IS NULL`),
    index('server_sessions_live').on(t.endedAt).where(sql`ended_at IS NULL`),
  ],
)
export type RunRow = typeof runs.$inferSelect

/**
 * How long starts of a kind took lately, from the click until they were ready: `src/server/fleet/count-start-times.ts`.
 * Ready is when it first answers, or when its program starts if the run ends with that.
 */
export const startTimes = sqliteTable(
  'start_times',
  {
    /** Whose image it is; empty: the catalog's. */
    owner: text().notNull(),
    environment: text().notNull(),
    instanceType: text('instance_type').notNull(),
    untilExit: integer('until_exit', { mode: 'boolean' }).notNull(),
    /** In whole seconds, of starts without a warm machine. Both null: we don't know yet. */
    p50: integer(),
    p90: integer(),
    /** The same of starts whose users were told of a warm one. */
    warmP50: integer('warm_p50'),
    warmP90: integer('warm_p90'),
    countedAt: integer('counted_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.owner, t.environment, t.instanceType, t.untilExit] }),
    index('start_times_by_count').on(t.countedAt),
  ],
)

/** What happened to a run if no other row says so: its end was set, moved, or removed, or it was renamed. */
export const runEvents = sqliteTable(
  'run_events',
  {
    id: text().primaryKey(),
    runId: text('session_id')
      .notNull()
      .references(() => runs.id),
    at: integer().notNull(),
    what: text().$type<RunEventKind>().notNull(),
    /** For an end, the new one as ISO 8601; for a name, the new one. */
    detail: text(),
    by: text().$type<RunActor>().notNull(),
  },
  (t) => [index('run_events_by_session').on(t.runId, t.at)],
)
export type RunEventRow = typeof runEvents.$inferSelect

/**
 * A link through a run's door. A ticket takes its owner's browser in, once. A guest's link takes anyone in until it
 * ends. We store only the SHA-256 of its secret.
 */
export const doorLinks = sqliteTable(
  'door_links',
  {
    id: text().primaryKey(),
    hash: text().notNull().unique(),
    runId: text('session_id')
      .notNull()
      .references(() => runs.id),
    /** The sign-in that a ticket was given to, whose end closes the door. Null: a guest's link. */
    signInId: text('sign_in_id'),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** When someone last came in with it. */
    usedAt: integer('used_at'),
    /** How many browsers came in with it. */
    uses: integer().notNull().default(0),
    revokedAt: integer('revoked_at'),
  },
  (t) => [index('door_links_by_session').on(t.runId)],
)

/** One attempt to launch an instance in one place, recorded before we call EC2. */
export const launches = sqliteTable(
  'launches',
  {
    /** EC2's ClientToken: the same token never creates two instances. */
    token: text().primaryKey(),
    runId: text('session_id')
      .notNull()
      .references(() => runs.id),
    placeId: text('server_id')
      .notNull()
      .references(() => places.id),
    createdAt: integer('created_at').notNull(),
    instanceId: text('instance_id'),
    /**
     * Null: unknown, an instance may exist. `refused`: EC2 said no, there is none. `gone`: it was terminated
     * or never existed.
     */
    outcome: text().$type<'launched' | 'refused' | 'gone'>(),
    /** What EC2 said when it refused, to look it up there. */
    refusalCode: text('refusal_code'),
    refusalRequestId: text('refusal_request_id'),
    /** When we last asked EC2 to terminate its instance. */
    terminateAskedAt: integer('terminate_asked_at'),
    /** EC2's LaunchTime of its instance, in whole seconds. */
    launchedAt: integer('launched_at'),
    /** When EC2 says that its instance ended, and why, read once it was terminated. EC2 forgets both after an hour. */
    endedAt: integer('ended_at'),
    endReason: text('end_reason'),
  },
  (t) => [index('launches_by_session').on(t.runId)],
)
export type LaunchRow = typeof launches.$inferSelect

export const jobs = sqliteTable(
  'jobs',
  {
    id: text().primaryKey(),
    userId: userId(),
    runId: text('session_id')
      .notNull()
      .references(() => runs.id),
    kind: text().$type<JobKind>().notNull(),
    status: text().$type<JobStatus>().notNull(),
    progress: text(),
    result: text(),
    /** Set on a running job: it is cleaning up and will fail with this. */
    errorMessage: text('error_message'),
    errorCode: text('error_code').$type<JobErrorCode>(),
    attempts: integer().notNull().default(0),
    /** When the next step is due; null once finished. */
    runAt: integer('run_at'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    index('jobs_by_user').on(t.userId, t.createdAt),
    index('jobs_by_session').on(t.runId),
    index('jobs_due').on(t.runAt).where(sql`run_at IS NOT NULL`),
    index('jobs_ended').on(t.updatedAt).where(sql`run_at IS NULL`),
    uniqueIndex('one_unfinished_job_per_kind').on(t.runId, t.kind).where(sql`run_at IS NOT NULL`),
  ],
)
export type JobRow = typeof jobs.$inferSelect

/**
 * What an account keeps for its own images, encrypted for this row alone (`src/server/fleet/secrets.ts`): values for
 * their containers, and logins that pull them.
 */
export const secrets = sqliteTable(
  'secrets',
  {
    userId: userId(),
    /** For a login, its registry's host. Hosts contain a dot, and names of values don't. */
    name: text().notNull(),
    sealed: text().notNull(),
    /** A login's username. Null: a value. */
    username: text(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.name] })],
)
export type SecretRow = typeof secrets.$inferSelect

/** Requests for more servers than the fleet has. */
export const serverRequests = sqliteTable('server_requests', {
  id: text().primaryKey(),
  userId: userId(),
  createdAt: integer('created_at').notNull(),
})

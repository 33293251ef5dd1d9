import { sql } from 'drizzle-orm'
import {
  type AnySQLiteColumn,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import type { MailedAct, Wrong } from '../src/domain/activity.ts'
import type { TokenScope } from '../src/domain/api-token.ts'
import type { Act } from '../src/domain/audit.ts'
import type { FilesReadOnly } from '../src/domain/files.ts'
import type { Pull } from '../src/domain/image-pull.ts'
import type { BillTo } from '../src/domain/money/bill.ts'
import type { DisputeState, InvoiceStatus, InvoiceStep } from '../src/domain/money/invoice.ts'
import type { PlanType } from '../src/domain/money/plan.ts'
import type { MailKind, NoticeKind } from '../src/domain/notice.ts'
import type { RunParameters } from '../src/domain/parameters.ts'
import type { Death, EndReason, JobErrorCode, RunErrorCode } from '../src/domain/run-end.ts'
import type { RunActor, RunEventKind } from '../src/domain/run-event.ts'
import type { RunWishes } from '../src/domain/run-wishes.ts'
import type { EventType } from '../src/domain/webhook.ts'
import type { JobKind, JobStatus, MessageKind, Vehicle } from '../src/domain/wire.ts'

/** Every time is an integer: milliseconds since 1970 in UTC. Every id is text with a readable prefix. */

export const users = sqliteTable(
  'users',
  {
    id: text().primaryKey(),
    /** Trimmed and lower-cased. A closed account keeps its row, not its address. */
    email: text().notNull().unique(),
    name: text().notNull(),
    passwordHash: text('password_hash').notNull(),
    admin: integer({ mode: 'boolean' }).notNull().default(false),
    confirmedAt: integer('confirmed_at'),
    /** Set while a bill is overdue: we refuse starts. */
    suspendedAt: integer('suspended_at'),
    /** While suspended: when we emailed that we will stop the running server tomorrow. */
    stopWarnedAt: integer('stop_warned_at'),
    /** Set while an operator suspends the account for a reason other than a bill: we refuse starts. */
    heldAt: integer('held_at'),
    closedAt: integer('closed_at'),
    /**
     * An HMAC of the mailbox that the address delivers to, once it is confirmed. Null for accounts from before we kept
     * it until a trigger records it, and forgotten with the address.
     */
    mailbox: text(),
    stripeCustomerId: text('stripe_customer_id').unique(),
    /**
     * Every second before this is in a billing record or was free; the open cycle begins here. 0: at
     * `created_at`.
     */
    billedUntil: integer('billed_until').notNull().default(0),
    /** What server time beyond the plan's hours may cost in a month; null: no limit. `src/domain/money/budget.ts` */
    budgetCents: integer('budget_cents'),
    /** Whether we then stop their server. */
    budgetStops: integer('budget_stops', { mode: 'boolean' }).notNull().default(false),
    /** When they last agreed that we charge their card for usage, and when they last said no: `src/domain/money/charge.ts` */
    chargeConsentAt: integer('charge_consent_at'),
    chargeRefusedAt: integer('charge_refused_at'),
    /** Kinds of email that they switched off: `src/domain/notice.ts`. */
    mutedMails: text('muted_mails', { mode: 'json' }).$type<MailKind[]>().notNull().default([]),
    /** After how many minutes without use we stop their server; null: never. `src/domain/idle.ts` */
    idleMinutes: integer('idle_minutes'),
    /** When closing looks at this user next. */
    billingDueAt: integer('billing_due_at').notNull().default(0),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    index('users_billing_due').on(t.billingDueAt),
    index('users_closed').on(t.closedAt).where(sql`closed_at IS NOT NULL`),
    index('users_by_mailbox').on(t.mailbox).where(sql`mailbox IS NOT NULL`),
    index('users_without_mailbox')
      .on(t.confirmedAt)
      .where(sql`mailbox IS NULL AND confirmed_at IS NOT NULL AND password_hash <> ''`),
  ],
)
export type UserRow = typeof users.$inferSelect

/** The user whose row it is. */
const userId = () =>
  text('user_id')
    .notNull()
    .references(() => users.id)

/** The mailboxes that have had their trial. Outlives the account, and names nobody: see `src/server/accounts/mailboxes.ts`. */
export const trials = sqliteTable('trials_given', {
  mailbox: text().primaryKey(),
  givenAt: integer('given_at').notNull(),
})

/** Random keys that must survive a rotation of SECRET_KEY, encrypted with it. */
export const keptKeys = sqliteTable('kept_keys', {
  purpose: text().$type<'mailbox'>().primaryKey(),
  sealed: text().notNull(),
})

/** Who is signed in: the row that a cookie's JWT names, so that we can revoke it. */
export const signIns = sqliteTable(
  'sign_ins',
  {
    id: text().primaryKey(),
    userId: userId(),
    createdAt: integer('created_at').notNull(),
    lastSeenAt: integer('last_seen_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    /** When they last confirmed their password; null: when they signed in. */
    passwordAt: integer('password_at'),
    userAgent: text('user_agent'),
    address: text(),
    /** Whether this browser had never signed in to the account. */
    newBrowser: integer('new_browser', { mode: 'boolean' }).notNull().default(false),
    /** The network of `address`. The number of people on it decides its rate limits. */
    network: text(),
  },
  (t) => [index('sign_ins_by_user').on(t.userId), index('sign_ins_by_network').on(t.network)],
)

/** How many sign-ins to an account we refused in an hour. Only a count, so that a stranger's guesses can't fill its owner's list. */
export const refusedSignIns = sqliteTable(
  'refused_sign_ins',
  {
    userId: userId(),
    /** When the hour began. */
    hour: integer().notNull(),
    wrong: text().$type<Wrong>().notNull(),
    count: integer().notNull(),
    /** When the last one was, and from where. */
    lastAt: integer('last_at').notNull(),
    userAgent: text('user_agent'),
    address: text(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.hour, t.wrong] }), index('refused_sign_ins_by_hour').on(t.hour)],
)

/** Links in emails. We store only the SHA-256 of the token. */
export const emailTokens = sqliteTable(
  'email_tokens',
  {
    hash: text().primaryKey(),
    userId: userId(),
    purpose: text().$type<'confirm' | 'reset' | 'factor'>().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    usedAt: integer('used_at'),
  },
  (t) => [index('email_tokens_by_user').on(t.userId)],
)

/** An authenticator app (RFC 6238), one per account. `src/server/accounts/credentials/totp.ts` */
export const totps = sqliteTable('totps', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id),
  /** Its secret, encrypted for its account. */
  sealed: text().notNull(),
  createdAt: integer('created_at').notNull(),
  /** The sign-in that started it and may confirm it. */
  signInId: text('sign_in_id').notNull(),
  /** When its owner typed its first code; null: it doesn't count yet. */
  confirmedAt: integer('confirmed_at'),
  /** The step of the last code we accepted. It and earlier ones don't count again. */
  lastStep: integer('last_step').notNull().default(0),
  lastUsedAt: integer('last_used_at'),
})

/** Codes that each open an account once if its other factor is lost. We store only the SHA-256. */
export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    userId: userId(),
    hash: text().notNull(),
    createdAt: integer('created_at').notNull(),
    usedAt: integer('used_at'),
  },
  (t) => [primaryKey({ columns: [t.userId, t.hash] })],
)

/**
 * An operator is about to remove an account's second factor, because its owner says that it's lost. We wait a day, so
 * that an owner who still has it can keep it. `src/server/operations/lost-factors.ts`
 */
export const factorRemovals = sqliteTable(
  'factor_removals',
  {
    userId: text('user_id')
      .primaryKey()
      .references(() => users.id),
    /** The operator, and why. */
    actor: text().notNull(),
    reason: text().notNull(),
    dueAt: integer('due_at').notNull(),
  },
  (t) => [index('factor_removals_due').on(t.dueAt)],
)

/** Someone who typed the right password and must still prove a second factor. We store only the SHA-256 of their challenge. */
export const signInChallenges = sqliteTable(
  'sign_in_challenges',
  {
    hash: text().primaryKey(),
    userId: userId(),
    /** A hash of the cookie of the only browser that may answer. */
    browser: text().notNull(),
    tries: integer().notNull().default(0),
    expiresAt: integer('expires_at').notNull(),
    /** Who typed the password, for the account's owner: `src/server/accounts/stopped-sign-ins.ts` */
    newBrowser: integer('new_browser', { mode: 'boolean' }).notNull().default(false),
    userAgent: text('user_agent'),
    address: text(),
  },
  (t) => [index('sign_in_challenges_by_user').on(t.userId), index('sign_in_challenges_by_end').on(t.expiresAt)],
)

/** A passkey (WebAuthn): the public half of a key that never leaves its owner's device. `src/server/accounts/passkeys.ts` */
export const passkeys = sqliteTable(
  'passkeys',
  {
    id: text().primaryKey(),
    userId: userId(),
    /** What its device calls it, in base64url. */
    credentialId: text('credential_id').notNull().unique(),
    /** A COSE key in base64url. */
    publicKey: text('public_key').notNull(),
    /** How often it was used, according to its device; always 0 if the device doesn't count. */
    counter: integer().notNull(),
    /** How browsers reach its device. */
    transports: text({ mode: 'json' }).$type<string[]>().notNull(),
    name: text().notNull(),
    /**
     * Set by a new password until the passkey is used beside it, because someone who knew the old one may have added
     * it. Until then, it can't sign anyone in alone.
     */
    waitsForPassword: integer('waits_for_password', { mode: 'boolean' }).notNull().default(false),
    createdAt: integer('created_at').notNull(),
    lastUsedAt: integer('last_used_at'),
  },
  (t) => [index('passkeys_by_user').on(t.userId)],
)
export type PasskeyRow = typeof passkeys.$inferSelect

/**
 * What a passkey must sign, once. We store only the SHA-256. Challenges for signing in are stored only after they were
 * answered, so that none counts twice. The second step of signing in has its own, in `sign_in_challenges`.
 */
export const passkeyChallenges = sqliteTable(
  'passkey_challenges',
  {
    hash: text().primaryKey(),
    purpose: text().$type<'sign_in' | 'add' | 'confirm'>().notNull(),
    /** Null for signing in: only the answer says who it is. */
    userId: text('user_id').references(() => users.id),
    /** A hash of the cookie of the only browser that may answer. */
    browser: text().notNull(),
    /** The hash of the emailed link, which adding an admin's first factor needs. */
    link: text(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('passkey_challenges_by_user').on(t.userId)],
)

/** What a program sends instead of a cookie. We store only the SHA-256 of the token. */
export const apiTokens = sqliteTable(
  'api_tokens',
  {
    id: text().primaryKey(),
    hash: text().notNull().unique(),
    userId: userId(),
    name: text().notNull(),
    scope: text().$type<TokenScope>().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    lastUsedAt: integer('last_used_at'),
    lastAddress: text('last_address'),
  },
  (t) => [index('api_tokens_by_user').on(t.userId)],
)

/**
 * A command line that requests a token (RFC 8628). Its owner approves it by typing the user code on our page; the
 * program then fetches its token, once. We store only the SHA-256 of the device code.
 */
export const deviceLogins = sqliteTable(
  'device_logins',
  {
    id: text().primaryKey(),
    deviceHash: text('device_hash').notNull().unique(),
    userCode: text('user_code').notNull().unique(),
    /** The program's own name for itself, for its owner to compare. */
    deviceName: text('device_name').notNull(),
    address: text(),
    scope: text().$type<TokenScope>().notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** How long the program must wait before it polls again. */
    pollEveryMs: integer('poll_every_ms').notNull(),
    lastPolledAt: integer('last_polled_at'),
    deniedAt: integer('denied_at'),
    /** The token that its approval created. */
    tokenId: text('token_id').references(() => apiTokens.id),
    claimedAt: integer('claimed_at'),
  },
  (t) => [index('device_logins_by_end').on(t.expiresAt), index('device_logins_by_token').on(t.tokenId)],
)

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

/** Who is waiting for a place of a size: one row per account. A place that is theirs is reserved under their own ID. */
export const line = sqliteTable(
  'line',
  {
    userId: text('user_id')
      .primaryKey()
      .references(() => users.id),
    /** The size that they are waiting for. */
    gpus: integer().notNull(),
    /** They are on a trial, as of the last look. Paid plans and trials take turns. */
    trial: integer({ mode: 'boolean' }).notNull(),
    /** We start their server when it's their turn; otherwise we hold the place for them. */
    start: integer({ mode: 'boolean' }).notNull(),
    /** What that start may set. */
    wishes: text({ mode: 'json' }).$type<RunWishes & { tokenName?: string | null }>().notNull(),
    joinedAt: integer('joined_at').notNull(),
    /** In each class, the earliest is next. When they joined, or when they let another place expire. */
    queuedAt: integer('queued_at').notNull(),
    /** Their first position; null until we have told them. */
    joinedPosition: integer('joined_position'),
    /** When they got a place; null while they are waiting for one. */
    givenAt: integer('given_at'),
    /** When the held place goes to the next; null until we've checked that they may start. */
    heldUntil: integer('held_until'),
    /** How many held places they let expire. */
    lapses: integer().notNull().default(0),
    /** The run that started from it. If EC2 has no machine for it, they wait again, where they were. */
    runId: text('session_id').references(() => runs.id),
    /** What their pages show, as of the last look: 0 with a place. */
    position: integer(),
    p50: integer(),
    p90: integer(),
  },
  (t) => [
    index('line_next').on(t.gpus, t.trial, t.queuedAt, t.userId).where(sql`given_at IS NULL AND session_id IS NULL`),
    index('line_by_session').on(t.runId).where(sql`session_id IS NOT NULL`),
  ],
)
export type LineRow = typeof line.$inferSelect

/** How many paid plans got a place of a size since the last trial, while a trial waited. */
export const lineTurns = sqliteTable('line_turns', {
  gpus: integer().primaryKey(),
  paid: integer().notNull(),
})

/** How long each wait for a place took. Names nobody. */
export const lineWaits = sqliteTable(
  'line_waits',
  {
    id: integer().primaryKey(),
    gpus: integer().notNull(),
    trial: integer({ mode: 'boolean' }).notNull(),
    /** When they joined. */
    position: integer().notNull(),
    joinedAt: integer('joined_at').notNull(),
    waitedMs: integer('waited_ms').notNull(),
    /** They got a place; otherwise they left. */
    served: integer({ mode: 'boolean' }).notNull(),
  },
  (t) => [index('line_waits_by_time').on(t.joinedAt), index('line_waits_by_kind').on(t.gpus, t.trial, t.joinedAt)],
)

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

/**
 * An operator's promise to a group: while it lasts, this many of its people can have a server at once. No place is
 * reserved for it: the write that takes a free place leaves as many as a group still lacks.
 */
export const lineGroups = sqliteTable(
  'line_groups',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    /** The size of its places. */
    gpus: integer().notNull(),
    places: integer().notNull(),
    startsAt: integer('starts_at').notNull(),
    /** From this moment on nothing is held back. An early end moves it. */
    endsAt: integer('ends_at').notNull(),
    /** A code that adds people to the group; null: only listed people. */
    code: text().unique(),
    /** Where places are short, the group made first comes first. */
    madeAt: integer('made_at').notNull(),
    /** When the audit log recorded its end. */
    releasedAt: integer('released_at'),
  },
  (t) => [
    index('line_groups_by_size').on(t.gpus, t.endsAt),
    index('line_groups_open').on(t.endsAt).where(sql`released_at IS NULL`),
  ],
)
export type LineGroupRow = typeof lineGroups.$inferSelect

/** Who belongs to a group: the operator listed their address, or they entered its code. */
export const lineGroupPeople = sqliteTable(
  'line_group_people',
  {
    groupId: text('group_id')
      .notNull()
      .references(() => lineGroups.id),
    /** As in `users`; nobody may have signed up with it yet. */
    email: text().notNull(),
    joinedAt: integer('joined_at').notNull(),
    /** What we have yet to tell them; null: nothing. */
    news: text({ enum: ['added', 'changed', 'ended'] }),
  },
  (t) => [
    primaryKey({ columns: [t.groupId, t.email] }),
    index('line_group_people_by_email').on(t.email),
    index('line_group_people_by_news').on(t.groupId).where(sql`news IS NOT NULL`),
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

/** How many machines of a type an operator keeps warm in a zone: `src/domain/warm-hours.ts`. */
export const warmSettings = sqliteTable(
  'warm_settings',
  {
    instanceType: text('instance_type').notNull(),
    availabilityZone: text('availability_zone').notNull(),
    /** How many in each hour of the week, from Monday at 0:00. */
    hours: text({ mode: 'json' }).$type<number[]>().notNull(),
    /** The time zone of these hours: an IANA name. */
    timeZone: text('time_zone').notNull(),
    /** What one costs an hour, according to the operator, in US cents. Null: they didn't say. */
    hourCents: real('hour_cents'),
  },
  (t) => [primaryKey({ columns: [t.instanceType, t.availabilityZone] })],
)
export type WarmSettingRow = typeof warmSettings.$inferSelect

/**
 * A machine that is waiting in a place for its first and only run. The start that takes the place moves it to
 * `launches`. To end it, we reserve its place under its token. `src/server/fleet/warm/`
 */
export const warmMachines = sqliteTable(
  'warm_machines',
  {
    /** EC2's ClientToken, as in `launches`. */
    token: text().primaryKey(),
    placeId: text('server_id')
      .notNull()
      .references(() => places.id),
    createdAt: integer('created_at').notNull(),
    /** Null: unknown, it may exist. */
    instanceId: text('instance_id'),
    /** EC2's LaunchTime, in whole seconds. */
    launchedAt: integer('launched_at'),
    /** The version of its launch template. */
    templateVersion: text('template_version'),
    /** When it last asked what it is for, and when it first had everything that it can have beforehand. */
    askedAt: integer('asked_at'),
    readyAt: integer('ready_at'),
    /** When we saw that it won't get ready or get a run. Counts until another one of its kind works. */
    failedAt: integer('failed_at'),
    /** Since when EC2 hasn't found it, and after how many looks in a row. */
    unseenSince: integer('unseen_since'),
    unseenLooks: integer('unseen_looks').notNull().default(0),
    /** Since when we have been ending it. */
    endingAt: integer('ending_at'),
    /** It's gone, or never existed. We keep the row for a day, to recognize a launch that EC2 carries out late. */
    endedAt: integer('ended_at'),
  },
  (t) => [
    uniqueIndex('one_warm_machine_per_place').on(t.placeId).where(sql`ended_at IS NULL`),
    index('warm_machines_by_instance').on(t.instanceId),
    index('warm_machines_ended').on(t.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
)
export type WarmMachineRow = typeof warmMachines.$inferSelect

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

export const plans = sqliteTable(
  'subscriptions',
  {
    id: text().primaryKey(),
    userId: userId(),
    planType: text('plan_type').$type<PlanType>().notNull(),
    subType: text('sub_type').$type<'demo' | 'paid'>().notNull(),
    status: text().notNull(),
    /** The start of the first period; all others count from here. */
    anchor: integer().notNull(),
    hours: real().notNull().default(0),
    /**
     * The plan before a change at Stripe, and the end of the last period in which Stripe reported it. Those
     * cycles get the larger plan's hours.
     */
    earlierPlanType: text('earlier_plan_type').$type<PlanType>(),
    earlierHours: real('earlier_hours'),
    earlierUntil: integer('earlier_until'),
    /** When they last upgraded here, and from which plan: that period includes a share of the additional hours. */
    upgradedAt: integer('upgraded_at'),
    upgradedFrom: text('upgraded_from').$type<PlanType>(),
    /** When an upgrade that is waiting for its payment expires, or the last one did; null once it was paid. */
    upgradeUntil: integer('upgrade_until'),
    /** What it becomes with its next period, if that's scheduled. */
    nextPlanType: text('next_plan_type').$type<PlanType>(),
    /** When that period begins. */
    nextPlanAt: integer('next_plan_at'),
    cancelAtPeriodEnd: integer('cancel_at_period_end', { mode: 'boolean' }).notNull().default(false),
    /** When it will end, if that's scheduled. */
    cancelAt: integer('cancel_at'),
    /** Stripe couldn't collect: no hours are included from here on. Null while the plan is paid. */
    paidUntil: integer('paid_until'),
    stripeSubscriptionId: text('stripe_subscription_id').unique(),
    /** When we asked Stripe for this state: an older answer never overwrites a newer one. */
    syncedAt: integer('synced_at').notNull().default(0),
    /** When to ask Stripe again, in case we missed a webhook; null if there is nothing to ask. */
    checkAt: integer('check_at'),
    createdAt: integer('created_at').notNull(),
    endedAt: integer('ended_at'),
  },
  (t) => [
    uniqueIndex('one_current_subscription_per_user').on(t.userId).where(sql`ended_at IS NULL`),
    index('subscriptions_by_user').on(t.userId),
    index('subscriptions_to_check').on(t.checkAt).where(sql`check_at IS NOT NULL`),
  ],
)
export type PlanRow = typeof plans.$inferSelect

/**
 * A visit to Stripe's checkout page, recorded before we open it there. While one is open, cycles that end
 * wait up to 25 hours.
 */
export const checkouts = sqliteTable(
  'checkouts',
  {
    /** Also the idempotency key. */
    id: text().primaryKey(),
    userId: userId(),
    planType: text('plan_type').$type<PlanType>().notNull(),
    stripeSessionId: text('stripe_session_id').unique(),
    status: text().$type<'open' | 'complete' | 'expired'>().notNull(),
    createdAt: integer('created_at').notNull(),
    checkAt: integer('check_at'),
  },
  (t) => [
    uniqueIndex('one_open_checkout_per_user').on(t.userId).where(sql`status = 'open'`),
    index('checkouts_to_check').on(t.checkAt).where(sql`check_at IS NOT NULL`),
  ],
)
export type CheckoutRow = typeof checkouts.$inferSelect

/**
 * One closed cycle of one user, or a correction of one: the same period, with what to add to its seconds and
 * its amount. Written once, never changed.
 */
export const bills = sqliteTable(
  'billing_records',
  {
    id: text().primaryKey(),
    userId: userId(),
    /** Half-open: `periodEnd` is the next one's start. */
    periodStart: integer('period_start').notNull(),
    periodEnd: integer('period_end').notNull(),
    /** Null: no plan. */
    planType: text('plan_type').$type<PlanType>(),
    includedHours: real('included_hours').notNull(),
    trial: integer({ mode: 'boolean' }).notNull(),
    seconds: integer().notNull(),
    amountCents: integer('amount_cents').notNull(),
    /** The record that this one corrects, and why. Null for a cycle's own record. */
    corrects: text().references((): AnySQLiteColumn => bills.id),
    reason: text(),
    /** The run whose missing seconds a correction credits: see `shortSeconds`. */
    runId: text('session_id'),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('one_record_per_period').on(t.userId, t.periodStart).where(sql`corrects IS NULL`),
    index('billing_records_by_user').on(t.userId, t.periodStart),
    uniqueIndex('one_credit_per_run').on(t.runId, t.corrects).where(sql`session_id IS NOT NULL`),
  ],
)
export type BillRow = typeof bills.$inferSelect

/** What its customer got back of a payment; a new column for each table. */
const reversal = () => ({
  /** By refunds. */
  refundedCents: integer('refunded_cents').notNull().default(0),
  /** At their bank; null if they never disputed it. */
  dispute: text().$type<DisputeState>(),
  /** When we asked Stripe for these: an older answer never overwrites a newer one. */
  reversalAskedAt: integer('reversal_asked_at').notNull().default(0),
})

/**
 * The progress of a record's invoice, or of the credit if its amount is below 0. Each call to Stripe is
 * recorded before we make it. A record of 0 cents has none.
 */
export const invoices = sqliteTable(
  'invoices',
  {
    billId: text('record_id')
      .primaryKey()
      .references(() => bills.id),
    userId: userId(),
    /** The next call to make. `sent`: it only needs to be paid; `credited`: nothing is left to do. */
    step: text().$type<InvoiceStep>().notNull(),
    /** How often we tried this step. */
    attempts: integer().notNull().default(0),
    /** When to continue, or to ask Stripe again; null once settled. */
    nextAt: integer('next_at'),
    lastError: text('last_error'),
    /** When Stripe may start to charge a card for it, as we announced; null if we didn't. */
    chargeAt: integer('charge_at'),
    /** Set while an operator holds it: nobody is charged, reminded, or overdue. */
    heldAt: integer('held_at'),
    /** By how much holds, and a bank debit that failed late, have postponed its due date. */
    heldMs: integer('held_ms').notNull().default(0),
    /** Since when we know of a payment on its way: a bank debit takes days. During the first one, the invoice isn't overdue. */
    processingAt: integer('processing_at'),
    /** When a bank debit first came back. That gave them days to pay another way, and the next debit postpones nothing. */
    debitReturnedAt: integer('debit_returned_at'),
    /** For a credit: the credit note's id. */
    stripeInvoiceId: text('stripe_invoice_id').unique(),
    /** Stripe's number for it, on its page and its PDF and for bookkeepers. */
    number: text(),
    /** The customer on it: a company, its address, and its tax IDs as they were at Stripe when it was finalized. */
    billTo: text('bill_to', { mode: 'json' }).$type<BillTo>(),
    /** Stripe's status, as of `syncedAt`. */
    status: text().$type<InvoiceStatus>(),
    /** Ours: 15 days after Stripe finalized it, however it is collected. */
    dueAt: integer('due_at'),
    paidAt: integer('paid_at'),
    /** What is left to pay: after a credit, less than the record's amount. */
    remainingCents: integer('remaining_cents'),
    hostedUrl: text('hosted_url'),
    pdfUrl: text('pdf_url'),
    syncedAt: integer('synced_at').notNull().default(0),
    ...reversal(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [index('invoices_by_user').on(t.userId), index('invoices_due').on(t.nextAt).where(sql`next_at IS NOT NULL`)],
)
export type InvoiceRow = typeof invoices.$inferSelect

/**
 * Stripe's own invoices for a plan's price, as last seen there. For people's books only: no rule about hours, bills, or
 * suspension reads them.
 */
export const planPayments = sqliteTable(
  'plan_payments',
  {
    id: text().primaryKey(),
    userId: userId(),
    stripeInvoiceId: text('stripe_invoice_id').notNull().unique(),
    number: text(),
    /** The plan when we first saw the invoice. Null: not one of ours. */
    planType: text('plan_type').$type<PlanType>(),
    /** What it pays for. Half-open, like a bill's period. */
    periodStart: integer('period_start').notNull(),
    periodEnd: integer('period_end').notNull(),
    /** Its total after credit notes. */
    amountCents: integer('amount_cents').notNull(),
    remainingCents: integer('remaining_cents').notNull(),
    /** Never a draft. */
    status: text().$type<InvoiceStatus>().notNull(),
    dueAt: integer('due_at'),
    paidAt: integer('paid_at'),
    hostedUrl: text('hosted_url'),
    pdfUrl: text('pdf_url'),
    /** When we asked Stripe for this state: an older answer never overwrites a newer one. */
    syncedAt: integer('synced_at').notNull(),
    /** When to ask Stripe again, in case we missed a webhook; null once settled. */
    checkAt: integer('check_at'),
    ...reversal(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    index('plan_payments_by_user').on(t.userId, t.periodStart),
    index('plan_payments_to_check').on(t.checkAt).where(sql`check_at IS NOT NULL`),
  ],
)
export type PlanPaymentRow = typeof planPayments.$inferSelect

/** Webhooks whose effect is in the database; written in the same batch. */
export const stripeEvents = sqliteTable('stripe_events', {
  id: text().primaryKey(),
  type: text().notNull(),
  receivedAt: integer('received_at').notNull(),
})

/** Emails to send, written in the batch of the change that causes them. */
export const outbox = sqliteTable(
  'outbox',
  {
    id: text().primaryKey(),
    recipient: text().notNull(),
    subject: text().notNull(),
    text: text().notNull(),
    html: text().notNull(),
    /** Where replies go, if not to the sender. */
    replyTo: text('reply_to'),
    /** The link that turns off emails of its kind, for its header. Null for emails that people can't turn off. */
    offUrl: text('off_url'),
    /** What it is about, for an email that we write only once: `paid:bill_…`. */
    cause: text().unique(),
    /** What happened to the account, if this email tells its owner: with it, the email is the record that Activity shows. */
    act: text().$type<MailedAct>(),
    createdAt: integer('created_at').notNull(),
    attempts: integer().notNull().default(0),
    /** When the next try is due; null once sent or given up. */
    sendAt: integer('send_at'),
    sentAt: integer('sent_at'),
  },
  (t) => [
    index('outbox_due').on(t.sendAt).where(sql`send_at IS NOT NULL`),
    index('outbox_by_recipient').on(t.recipient),
  ],
)
export type OutboxRow = typeof outbox.$inferSelect

/** What a user sees under the bell, written in the batch of the change that causes it, with its email if it has one. */
export const notices = sqliteTable(
  'notices',
  {
    id: text().primaryKey(),
    userId: userId(),
    kind: text().$type<NoticeKind>().notNull(),
    at: integer().notNull(),
    title: text().notNull(),
    text: text().notNull(),
    /** Where it leads: a path of ours or an invoice at Stripe, and what its link says. */
    link: text(),
    label: text(),
    /** What it is about, for one that we write only once: `budget:…`. */
    cause: text().unique(),
    readAt: integer('read_at'),
  },
  (t) => [
    index('notices_by_user').on(t.userId, t.at),
    index('notices_unread').on(t.userId).where(sql`read_at IS NULL`),
    index('notices_by_time').on(t.at),
  ],
)
export type NoticeRow = typeof notices.$inferSelect

/** Where a user's events go. Deleting one deletes its deliveries. */
export const webhooks = sqliteTable(
  'webhook_endpoints',
  {
    id: text().primaryKey(),
    userId: userId(),
    url: text().notNull(),
    /** The events it receives. */
    events: text({ mode: 'json' }).$type<EventType[]>().notNull(),
    /** What signs its messages, newest first. A replaced secret keeps signing until its end. */
    secrets: text({ mode: 'json' }).$type<WebhookSecret[]>().notNull(),
    createdAt: integer('created_at').notNull(),
    /** When it last accepted a message. */
    answeredAt: integer('answered_at'),
    /** When we switched it off, and why. We write nothing for it until its owner turns it on. */
    offAt: integer('off_at'),
    offBecause: text('off_because').$type<'failing' | 'gone'>(),
  },
  (t) => [uniqueIndex('one_webhook_per_url').on(t.userId, t.url)],
)
export type WebhookRow = typeof webhooks.$inferSelect

/** Encrypted (`src/server/events/secrets.ts`). `endsAt` is null for the newest. */
export type WebhookSecret = { sealed: string; endsAt: number | null }

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

/** One event for one endpoint, written in the batch of the change that it reports. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    webhookId: text('endpoint_id')
      .notNull()
      .references(() => webhooks.id),
    /** The same for every endpoint and every try, so that receivers can tell repeats. */
    eventId: text('event_id').notNull(),
    userId: userId(),
    type: text().$type<EventType | 'webhook.test'>().notNull(),
    /** The JSON that we send and sign. */
    payload: text().notNull(),
    createdAt: integer('created_at').notNull(),
    /** When its tries began: when it was written, or last sent again by hand. */
    since: integer().notNull(),
    attempts: integer().notNull().default(0),
    /** When the next try is due, or when a try in progress counts as lost. Null once accepted or given up. */
    nextAt: integer('next_at'),
    triedAt: integer('tried_at'),
    takenAt: integer('taken_at'),
    /** The HTTP status of the last answer; null if there was none. */
    status: integer(),
    /** The beginning of the last answer, or why there was none. */
    answer: text(),
  },
  (t) => [
    primaryKey({ columns: [t.webhookId, t.eventId] }),
    index('webhook_deliveries_by_time').on(t.webhookId, t.createdAt),
    index('webhook_deliveries_due').on(t.nextAt).where(sql`next_at IS NOT NULL`),
    index('webhook_deliveries_due_by_user').on(t.userId, t.nextAt).where(sql`next_at IS NOT NULL`),
  ],
)
export type DeliveryRow = typeof webhookDeliveries.$inferSelect

/**
 * When we last emailed the operator about a matter, at most once an hour; for a lasting matter, when we last
 * saw it.
 */
export const alerts = sqliteTable('alerts', {
  matter: text().primaryKey(),
  toldAt: integer('told_at').notNull(),
})

/** How often we called a vendor or the database, or Stripe called us, by outcome: see src/server/runtime/calls.ts. */
export const callCounts = sqliteTable(
  'call_counts',
  {
    system: text().notNull(),
    call: text().notNull(),
    outcome: text().$type<'ok' | 'refused' | 'failed'>().notNull(),
    count: integer().notNull(),
    lastAt: integer('last_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.system, t.call, t.outcome] })],
)

/** Times when nobody could start a server, for the public status page. */
export const incidents = sqliteTable(
  'incidents',
  {
    id: text().primaryKey(),
    kind: text().$type<'full' | 'failing' | 'down'>().notNull(),
    startedAt: integer('started_at').notNull(),
    /** Null while it lasts. */
    endedAt: integer('ended_at'),
  },
  (t) => [
    uniqueIndex('one_open_incident_per_kind').on(t.kind).where(sql`ended_at IS NULL`),
    index('incidents_by_end').on(t.endedAt),
  ],
)
export type IncidentRow = typeof incidents.$inferSelect

/** What operators did, and why. Triggers refuse to change or delete a row. */
export const auditLog = sqliteTable(
  'audit_log',
  {
    id: text().primaryKey(),
    at: integer().notNull(),
    /** An admin's user id, or `script`. */
    actor: text().notNull(),
    act: text().$type<Act>().notNull(),
    /** The ID of what they acted on. */
    subject: text().notNull(),
    /** The user it concerns. */
    userId: text('user_id'),
    reason: text().notNull(),
    /** What changed, as JSON. */
    detail: text(),
  },
  (t) => [index('audit_log_by_time').on(t.at), index('audit_log_by_user').on(t.userId, t.at)],
)
export type AuditRow = typeof auditLog.$inferSelect

/** One row: since when we have checked whether people can start servers, and when we last did. */
export const statusChecks = sqliteTable('status_checks', {
  id: text().$type<'starts'>().primaryKey(),
  firstAt: integer('first_at').notNull(),
  lastAt: integer('last_at').notNull(),
})

/** What people write to us: to sales, for help, or as feedback. */
export const contactMessages = sqliteTable('contact_messages', {
  id: text().primaryKey(),
  kind: text().$type<MessageKind>().notNull().default('sales'),
  name: text().notNull(),
  email: text().notNull(),
  /** To sales: how they heard about us. For help: the topic. Feedback has none. */
  source: text().notNull(),
  message: text().notNull(),
  createdAt: integer('created_at').notNull(),
})

/** Requests for more servers than the fleet has. */
export const serverRequests = sqliteTable('server_requests', {
  id: text().primaryKey(),
  userId: userId(),
  createdAt: integer('created_at').notNull(),
})

/** Someone's private folder in the bucket, and what we last counted there. */
export const fileFolders = sqliteTable(
  'file_folders',
  {
    userId: text('user_id')
      .primaryKey()
      .references(() => users.id),
    /** What all of its keys begin with: random, and the same forever. */
    prefix: text().notNull().unique(),
    createdAt: integer('created_at').notNull(),
    /** As of `countedAt`, from the bucket. */
    usedBytes: integer('used_bytes').notNull().default(0),
    usedFiles: integer('used_files').notNull().default(0),
    /** Parts of uploads that programs have begun but not finished. */
    partsBytes: integer('parts_bytes').notNull().default(0),
    /** When the last full count began; null: never. */
    countedAt: integer('counted_at'),
    /** Until then, something may write: a link, credentials, or a run. An earlier count is out of date. */
    openUntil: integer('open_until').notNull().default(0),
    /** A count of many pages that is under way: since when, where it continues, and its sums. */
    countBegunAt: integer('count_begun_at'),
    countNext: text('count_next'),
    /** The key after which it begins, and ends once around; null: before all keys. */
    countFrom: text('count_from'),
    countBytes: integer('count_bytes').notNull().default(0),
    countFiles: integer('count_files').notNull().default(0),
    /** When a trigger counts next; null: nothing has changed. */
    countDueAt: integer('count_due_at'),
    /** Failed tries of a trigger since the last one that worked. */
    countFailures: integer('count_failures').notNull().default(0),
    /** How full we last said it is, in percent: 0, 80, or 100. */
    toldPercent: integer('told_percent').notNull().default(0),
    /** Without a plan: when we delete everything. */
    deleteAt: integer('delete_at'),
    /** Over the limit: when we delete the newest files, and how many days the last email about it gave. */
    overDeleteAt: integer('over_delete_at'),
    overTold: integer('over_told'),
    /** When we next check whether they still have a plan. */
    lookAt: integer('look_at').notNull().default(0),
  },
  (t) => [index('file_folders_by_count').on(t.countDueAt), index('file_folders_by_look').on(t.lookAt)],
)
export type FileFolderRow = typeof fileFolders.$inferSelect

/** Uploads that we let begin. Each counts against the limit until it ends; `uploadId` is the bucket's, for multipart uploads. */
export const fileUploads = sqliteTable(
  'file_uploads',
  {
    id: text().primaryKey(),
    userId: userId(),
    path: text().notNull(),
    size: integer().notNull(),
    uploadId: text('upload_id'),
    /** For a multipart upload: changes with the file, so that only the same file continues it. */
    version: text(),
    /** The etag of what was there when it began; null: nothing was. */
    replaces: text(),
    /** What it counts against the limit: its size, or for a link, how much larger it is than the file it replaces. */
    counts: integer().notNull().default(0),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    /** Its file has arrived. It counts until a count that began later. */
    endedAt: integer('ended_at'),
  },
  (t) => [index('file_uploads_by_user').on(t.userId), index('file_uploads_by_end').on(t.expiresAt)],
)
export type FileUploadRow = typeof fileUploads.$inferSelect

/** A deletion, for good, of everything below a place in someone's folder that was there when we accepted it. */
export const fileRemovals = sqliteTable(
  'file_removals',
  {
    id: text().primaryKey(),
    userId: userId(),
    /** Below the folder's prefix: `files/runs/`, or empty for all of it. */
    place: text().notNull(),
    /** By the bucket's clock. Anything written later stays. */
    acceptedAt: integer('accepted_at').notNull(),
    /** When a trigger continues. Postponed while one works, and further each time it fails. */
    nextAt: integer('next_at').notNull(),
    failures: integer().notNull().default(0),
    /** At least this many are left, as of the last look. */
    filesLeft: integer('files_left').notNull().default(0),
    /** The first key that the last round removed. */
    removedKey: text('removed_key'),
    doneAt: integer('done_at'),
    /** A key that is still there although the bucket said that it removed it: we gave up. */
    stuckKey: text('stuck_key'),
  },
  (t) => [
    index('file_removals_by_user').on(t.userId, t.acceptedAt),
    uniqueIndex('file_removals_open').on(t.userId, t.place).where(sql`done_at IS NULL`),
    index('file_removals_due').on(t.nextAt).where(sql`done_at IS NULL`),
  ],
)
export type FileRemovalRow = typeof fileRemovals.$inferSelect
